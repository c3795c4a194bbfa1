// The bar above a grid: the box that filters, how many rows there are, the columns, and copying.

import { type Signal, signal } from "@preact/signals";
import { createRef, render } from "preact";
import { toClipboard } from "./clipboard";
import { columnPicker } from "./column_picker";
import { node } from "./elements";
import type { Link } from "./link";
import type { GridViewQuestions, RowColumn, RowsAbout } from "./messages";
import { needing } from "./reactive";
import { count, cut, plural, visible } from "./text";

const TYPING_PAUSE = 300; // ms

/**
 * The bar: `element`, `show(about)` with what is known of the rows, `copyCsv()`, `focus()`. `ofHeads` stands in it;
 * `onLeave` is called when the filter is left for the rows.
 */
export function rowBar(link: Link<GridViewQuestions>, ofHeads: Signal<string>, onLeave: () => void) {
  const about = signal<RowsAbout | null>(null);
  const told = signal(""); // instead of how many rows there are
  const picker = columnPicker(link);
  const box = createRef<HTMLInputElement>();
  let typing = 0;

  function filterNow() {
    clearTimeout(typing);
    const filter = box.current?.value ?? "";
    if (link.state.filter !== filter) link.setState({ filter });
  }

  function typed() {
    clearTimeout(typing);
    typing = window.setTimeout(filterNow, TYPING_PAUSE);
  }

  function pressed(event: KeyboardEvent) {
    if (event.key === "Enter") filterNow();
    else if (event.key === "ArrowDown") onLeave();
    else return;
    event.preventDefault();
  }

  async function copyCsv() {
    const got = await link.ask("csv");
    const isCopied = await toClipboard(got.text);
    const rows =
      got.num_rows === got.num_total
        ? plural(got.num_rows, "row")
        : `${count(got.num_rows)} of ${plural(got.num_total, "row")}`;
    told.value = isCopied ? `Copied ${rows} as CSV` : "The browser did not allow copying; press the button again";
  }

  function Bar() {
    const failure = about.value?.failure?.message ?? "";
    return (
      <>
        <input
          ref={box}
          class="lx-input lx-filter"
          type="search"
          spellcheck={false}
          aria-label="Filter rows by text or an SQL expression"
          placeholder={link.offline ? "Filters need Python" : filterExample(about.value?.columns ?? [])}
          aria-invalid={failure !== ""}
          onInput={typed}
          onKeyDown={pressed}
          {...needing(link)}
        />
        <span
          class={failure && !told.value ? "lx-rows-status lx-failed" : "lx-rows-status"}
          role="status"
          title={told.value ? "" : visible(failure)}
        >
          {cut(told.value || failure || (about.value ? rowsWords(about.value) : ""), 300)}
        </span>
        <span class="lx-quiet">{ofHeads}</span>
        <picker.Picker numShown={about.value?.columns.length ?? 0} numColumns={about.value?.num_columns ?? 0} />
        <button
          class="lx-button"
          onClick={copyCsv}
          title="Copy the selected rows, or all of them, with the columns that are shown (Ctrl+C)"
          {...needing(link)}
        >
          Copy as CSV
        </button>
      </>
    );
  }

  const element = node("div", { class: "lx-bar" });
  render(<Bar />, element);
  link.onState(({ filter }) => {
    if (box.current && document.activeElement !== box.current) box.current.value = filter;
  });

  return {
    element,
    show(newest: RowsAbout) {
      about.value = newest;
      told.value = "";
      picker.renew(newest.num_columns);
    },
    copyCsv,
    focus: () => box.current?.focus(),
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
