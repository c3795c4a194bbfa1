// The bar above a lineage picture: the box for a row, and what moves the picture.

import { node } from "./elements";
import type { LineageAbout } from "./messages";
import { visible } from "./text";
import { tableWords } from "./version_words";

interface BarActions {
  onRow: (text: string) => void;
  onClear: () => void;
  onZoom: (factor: number) => void;
  onFit: () => void;
  onRefresh: () => void;
}

/** The bar: `element`, `setAbout(about)`, `setRow(row)` with the row that is drawn, `tell(problem)`. */
export function lineageBar({ onRow, onClear, onZoom, onFit, onRefresh }: BarActions) {
  const box = node("input", {
    class: "lx-input lx-row-box",
    type: "text",
    "aria-label": "Row ID, or address as fragment:offset",
    placeholder: "row ID, or address 3:17",
    spellcheck: "false",
    maxlength: 100,
  });
  const clear = node(
    "button",
    {
      class: "lx-button",
      title: "Draw no row",
      hidden: true,
      onclick: () => {
        box.value = "";
        onClear();
      },
    },
    "Clear row",
  );
  const total = node("span", { class: "lx-quiet lx-lineage-total" });
  const message = node("div", { class: "lx-note", role: "alert", hidden: true });
  box.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter" && box.value.trim()) onRow(box.value);
  });
  const button = (text: string, title: string, onclick: () => void) =>
    node("button", { class: "lx-button lx-square", title, "aria-label": title, onclick }, text);
  return {
    element: node(
      "div",
      {},
      node(
        "div",
        { class: "lx-toolbar" },
        box,
        node("button", { class: "lx-button", onclick: () => box.value.trim() && onRow(box.value) }, "Follow row"),
        clear,
        total,
        node(
          "span",
          { class: "lx-lineage-zoom" },
          button("−", "Zoom out", () => onZoom(1 / 1.6)),
          button("+", "Zoom in", () => onZoom(1.6)),
          node("button", { class: "lx-button", title: "See everything", onclick: onFit }, "Fit"),
          node("button", { class: "lx-button", title: "Look for new versions", onclick: onRefresh }, "Refresh"),
        ),
      ),
      message,
    ),
    setAbout(about: LineageAbout) {
      total.textContent = tableWords(about);
      box.placeholder = about.has_row_ids ? "row ID, or address 3:17" : "address, such as 3:17";
    },
    setRow(row: string | null) {
      clear.hidden = row === null;
      if (row !== null && document.activeElement !== box) box.value = row;
    },
    tell(text: string) {
      message.hidden = !text;
      message.textContent = visible(text);
    },
  };
}
