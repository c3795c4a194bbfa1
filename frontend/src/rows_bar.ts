// The bar above a grid: the box that filters, how many rows there are, the columns, and copying.

import { toClipboard } from "./clipboard";
import { columnPicker } from "./column_picker";
import { node } from "./elements";
import type { Link } from "./link";
import type { AllColumns, CopiedRows, RowColumn, RowsAbout } from "./messages";
import { count, cut, plural, visible } from "./text";

const TYPING_PAUSE = 300; // ms

/**
 * The bar: `element`, `show(about)` with what is known of the rows, `propose(columns)` with the
 * example of a filter, `copyCsv()`, `focus()`. `ofHeads` stands in it; `onLeave` is called when the
 * filter is left for the rows.
 */
export function rowBar(link: Link, ofHeads: HTMLElement, onLeave: () => void) {
  let typing = 0;

  const filter = node("input", {
    class: "lx-input lx-filter",
    type: "search",
    spellcheck: "false",
    "aria-label": "Filter rows by text or an SQL expression",
    oninput: () => {
      clearTimeout(typing);
      typing = setTimeout(filterNow, TYPING_PAUSE);
    },
    onkeydown: pressed,
  });
  const status = node("span", { class: "lx-rows-status", role: "status" });
  const copy = node(
    "button",
    {
      class: "lx-button",
      onclick: copyCsv,
      title: "Copy the selected rows, or all of them, with the columns that are shown (Ctrl+C)",
    },
    "Copy as CSV",
  );
  const picker = columnPicker({
    ask: () => link.ask<AllColumns>("columns"),
    onShow: (places) => link.ask("show_columns", { places }),
  });
  for (const control of [filter, copy, picker.button]) link.needsPython(control);
  link.onState((state) => {
    if (document.activeElement !== filter) filter.value = state.filter;
  });

  function filterNow() {
    clearTimeout(typing);
    if (link.state.filter !== filter.value) link.setState({ filter: filter.value });
  }

  function pressed(event: KeyboardEvent) {
    if (event.key === "Enter") filterNow();
    else if (event.key === "ArrowDown") onLeave();
    else return;
    event.preventDefault();
  }

  function tell(words: string, failure = "") {
    status.textContent = cut(words, 300);
    status.title = failure;
    status.classList.toggle("lx-failed", failure !== "");
  }

  async function copyCsv() {
    const got = await link.ask<CopiedRows>("csv");
    const isCopied = await toClipboard(got.text);
    const rows =
      got.num_rows === got.num_total
        ? plural(got.num_rows, "row")
        : `${count(got.num_rows)} of ${plural(got.num_total, "row")}`;
    tell(isCopied ? `Copied ${rows} as CSV` : "The browser did not allow copying; press the button again");
  }

  return {
    element: node("div", { class: "lx-bar" }, filter, status, ofHeads, picker.element, copy),
    show(about: RowsAbout) {
      filter.hidden = !about.can_arrange;
      filter.setAttribute("aria-invalid", String(Boolean(about.failure)));
      picker.label(about.columns.length, about.num_columns);
      if (about.failure) tell(about.failure.message, visible(about.failure.message));
      else tell(rowsWords(about));
    },
    propose(columns: RowColumn[]) {
      filter.placeholder = link.offline ? "Filters need Python" : filterExample(columns);
    },
    copyCsv,
    focus: () => filter.focus(),
  };
}

/** How many rows there are, match and are selected. */
export function rowsWords(
  about: Pick<RowsAbout, "num_rows" | "num_source_rows" | "num_selected" | "filter" | "is_expression">,
) {
  const { num_rows, num_source_rows, num_selected, filter, is_expression } = about;
  const isAll = num_rows === num_source_rows && !filter;
  const how = is_expression ? " match" : filter ? " with this text" : "";
  const rows = isAll ? plural(num_rows, "row") : `${count(num_rows)} of ${plural(num_source_rows, "row")}${how}`;
  return num_selected ? `${rows} · ${count(num_selected)} selected` : rows;
}

/** What somebody may write into the filter. */
export function filterExample(columns: Pick<RowColumn, "name" | "is_number">[]) {
  const example = columns.find(({ name, is_number }) => is_number && /^\w{1,14}$/.test(name));
  return example ? `Filter: text, or ${example.name} > 3` : "Filter: text, or an expression";
}
