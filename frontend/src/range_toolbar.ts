// The bar above a comparison: the boxes for both versions, and what else acts on the whole view.

import { node } from "./elements";
import type { History } from "./history";
import { tagList } from "./tag_list";
import { plural } from "./text";
import { toolbar } from "./toolbar";
import { tableWords } from "./version_words";

interface RangeActions {
  onFind: (name: "begin" | "end", text: string) => void;
  onPreset: (name: string) => void;
  refresh: HTMLButtonElement;
}

/** The bar: `element`, `setHistory(history)`, `show(begin, end)`, `tell(text)`. */
export function rangeToolbar({ onFind, onPreset, refresh }: RangeActions) {
  const tags = tagList();
  const box = (name: "begin" | "end", label: string) => {
    const made = node("input", {
      class: "lx-input lx-find",
      type: "text",
      "aria-label": label,
      title: "a version, a tag, or a time in UTC",
      list: tags.element.id,
      maxlength: 200,
      spellcheck: "false",
    });
    const find = () => made.value.trim() && onFind(name, made.value);
    made.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") find();
    });
    made.addEventListener("change", find);
    return made;
  };
  const from = box("begin", "From version, tag or time");
  const to = box("end", "To version, tag or time");
  const total = node("span", { class: "lx-quiet lx-total" });
  const button = (text: string, title: string, name: string) =>
    node("button", { class: "lx-button", title, onclick: () => onPreset(name) }, text);
  const { element, tell } = toolbar(
    node("label", { class: "lx-check" }, "From", from),
    node("label", { class: "lx-check" }, "to", to),
    tags.element,
    button("One commit", "What the later version's commit did", "commit"),
    button("All", "From the first kept version to the latest", "all"),
    total,
    refresh,
  );
  return {
    element,
    tell,
    setHistory(history: History) {
      tags.show(history);
      total.textContent = `${tableWords(history)}: ${plural(history.count, "version")}`;
    },
    show(begin: string, end: string) {
      from.value = begin;
      to.value = end;
    },
  };
}
