// The bar of time travel: steps from commit to commit, and the box that goes to a version, tag or time.

import { fill, node } from "./elements";
import type { History } from "./history";
import { tagList } from "./tag_list";
import { plural } from "./text";
import { toolbar } from "./toolbar";
import { tableWords } from "./version_words";

interface TravelActions {
  /** To the next commit in a direction: of one kind, or any for "". */
  onStep: (direction: number, kind: string) => void;
  onFind: (text: string) => void;
  refresh: HTMLButtonElement;
}

/** The bar: `element`, `setHistory(history)`, `show(position)`, `tell(text)`. */
export function travelToolbar({ onStep, onFind, refresh }: TravelActions) {
  const kinds = node("select", { class: "lx-input", "aria-label": "Kind of commit to step to" });
  const tags = tagList();
  const box = node("input", {
    class: "lx-input lx-find",
    type: "text",
    placeholder: "7, tag, yesterday",
    "aria-label": "Go to a version, a tag, or a time in UTC",
    list: tags.element.id,
    maxlength: 200,
  });
  const total = node("span", { class: "lx-quiet lx-total" });
  const back = stepButton("‹", "Previous commit", -1);
  const forth = stepButton("›", "Next commit", 1);
  box.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter" && box.value.trim()) onFind(box.value);
  });
  function stepButton(text: string, title: string, direction: number) {
    return node(
      "button",
      { class: "lx-button lx-step", title, "aria-label": title, onclick: () => onStep(direction, kinds.value) },
      text,
    );
  }
  const go = node("button", { class: "lx-button", onclick: () => onFind(box.value) }, "Go");
  const { element, tell } = toolbar(back, kinds, forth, box, tags.element, go, total, refresh);
  let history!: History;
  return {
    element,
    tell,
    setHistory(newest: History) {
      history = newest;
      const there = new Set(Array.from(history.kind, (code) => history.kinds[code]).filter(Boolean));
      const chosen = kinds.value;
      fill(
        kinds,
        node("option", { value: "" }, "any commit"),
        ...history.kinds.filter((kind) => there.has(kind)).map((kind) => node("option", { value: kind }, kind)),
      );
      kinds.value = there.has(chosen) ? chosen : "";
      tags.show(history);
      total.textContent = `${tableWords(history)}: ${plural(history.count, "version")}${history.recorded_words ? `; ${history.recorded_words}` : ""}`;
    },
    show(position: number) {
      back.disabled = position === 0;
      forth.disabled = position === history.count - 1;
    },
  };
}
