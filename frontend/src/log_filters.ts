// What the commits of the log are filtered by: words, a column, a time, and their kinds.

import { fill, node } from "./elements";
import { kindColor, legendEntry, swatch } from "./legend";
import type { Link } from "./link";
import type { LogAnswer, LogFilters } from "./messages";
import { count, visible } from "./text";

const PAUSE = 250; // ms, of typing

const MOST_NAMES = 3000; // of columns that the browser proposes

/**
 * The boxes and buttons. Gives: `boxes`, `kinds` (elements), `filters()`, `show(filters)`,
 * `propose(columns)`, `showKinds(answer)`, `close()`. `onChange` is called when somebody has changed
 * a filter.
 */
export function logFilters(link: Link, onChange: () => void) {
  let filters: LogFilters = {};
  let typing: number | undefined;

  const names = node("datalist", { id: `lx-log-${Math.random().toString(36).slice(2)}` });
  const text = box("text", {
    class: "lx-input lx-log-text",
    type: "search",
    placeholder: "Filter: words, author, tag, branch",
    "aria-label": "Show commits that say this",
  });
  const column = box("column", {
    list: names.id,
    placeholder: "touches column",
    "aria-label": "Show commits that can have changed this column",
  });
  const since = box("since", {
    placeholder: "since: yesterday, 2026-11-22",
    "aria-label": "Show commits made since then, in UTC",
    title: "A day or time in UTC, 3 hours ago, yesterday, a version or a tag",
  });
  const kinds = node("div", { class: "lx-legend lx-log-kinds", role: "group", "aria-label": "Kinds of commits" });

  function box(name: "text" | "column" | "since", attributes: Record<string, string>) {
    const input: HTMLInputElement = node("input", {
      class: "lx-input",
      spellcheck: "false",
      ...attributes,
      oninput: () => {
        filters = { ...filters, [name]: input.value.trim() };
        clearTimeout(typing);
        typing = setTimeout(onChange, PAUSE);
      },
    });
    return link.needsPython(input);
  }

  function toggleKind(name: string) {
    const chosen = new Set(filters.operation);
    if (!chosen.delete(name)) chosen.add(name);
    filters = { ...filters, operation: [...chosen] };
    onChange();
  }

  return {
    boxes: [text, column, names, since],
    kinds,
    filters: () => filters,
    show(newest: LogFilters) {
      filters = newest;
      text.value = newest.text ?? "";
      column.value = newest.column ?? "";
      since.value = newest.since ?? "";
    },
    propose(columns: string[]) {
      fill(names, ...columns.slice(0, MOST_NAMES).map((name) => node("option", { value: visible(name) })));
    },
    showKinds({ counts, kinds: known }: Pick<LogAnswer, "counts" | "kinds">) {
      const buttons = Object.entries(counts).map(([name, number]) =>
        node(
          "button",
          {
            class: "lx-log-kind",
            "data-kind": name,
            "aria-pressed": String(filters.operation?.includes(name) ?? false),
            title: `Show only commits of this kind: ${name}`,
            onclick: () => toggleKind(name),
          },
          legendEntry(swatch(kindColor({ kinds: known }, known.indexOf(name))), `${name} ${count(number)}`),
        ),
      );
      fill(kinds, ...buttons.map((button) => link.needsPython(button)));
    },
    close: () => clearTimeout(typing),
  };
}
