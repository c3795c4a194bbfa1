// The bar above a lineage picture: the box for a row, and what moves the picture.

import { node } from "./elements";
import type { LineageAbout } from "./messages";
import { rowBox } from "./row_box";
import { toolbar } from "./toolbar";
import { tableWords } from "./version_words";

interface BarActions {
  onRow: (text: string) => void;
  onClear: () => void;
  onZoom: (factor: number) => void;
  onFit: () => void;
  refresh: HTMLButtonElement;
}

/** The bar: `element`, `setAbout(about)`, `setRow(row)` with the row that is drawn, `tell(problem)`. */
export function lineageBar({ onRow, onClear, onZoom, onFit, refresh }: BarActions) {
  const box = rowBox("Follow row", { onRow });
  const clear = node(
    "button",
    {
      class: "lx-button",
      title: "Draw no row",
      hidden: true,
      onclick: () => {
        box.clear();
        onClear();
      },
    },
    "Clear row",
  );
  const total = node("span", { class: "lx-quiet lx-total" });
  const button = (text: string, title: string, onclick: () => void) =>
    node("button", { class: "lx-button lx-square", title, "aria-label": title, onclick }, text);
  const { element, tell } = toolbar(
    box.element,
    box.button,
    clear,
    total,
    node(
      "span",
      { class: "lx-lineage-zoom" },
      button("−", "Zoom out", () => onZoom(1 / 1.6)),
      button("+", "Zoom in", () => onZoom(1.6)),
      node("button", { class: "lx-button", title: "See everything", onclick: onFit }, "Fit"),
      refresh,
    ),
  );
  return {
    element,
    tell,
    setAbout(about: LineageAbout) {
      total.textContent = tableWords(about);
      box.setAbout(about);
    },
    setRow(row: string | null) {
      clear.hidden = row === null;
      box.setRow(row);
    },
  };
}
