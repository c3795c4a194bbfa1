// The box for a row: its row ID, or an address that it had.

import { node } from "./elements";

interface RowBoxActions {
  onRow: (text: string) => void;
  /** The arrow keys go to the next row, or to the one before. */
  onStep?: (direction: number) => void;
}

/**
 * The box: `element`, `button` with a name, `setAbout(about)` with what rows are called, `setRow(row)` with the row
 * that is shown, `clear()`.
 */
export function rowBox(name: string, { onRow, onStep }: RowBoxActions) {
  const element = node("input", {
    class: "lx-input lx-row-box",
    type: "text",
    "aria-label": "Row ID, or address as fragment:offset",
    placeholder: "row ID, or address 3:17",
    spellcheck: "false",
    maxlength: 100,
    onkeydown: pressed,
  });
  let shown = "";

  function show() {
    if (element.value.trim()) onRow(element.value);
  }

  function pressed(event: KeyboardEvent) {
    event.stopPropagation();
    if (event.key === "Enter") show();
    else if (onStep && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      event.preventDefault();
      onStep(event.key === "ArrowUp" ? 1 : -1);
    }
  }

  return {
    element,
    button: node("button", { class: "lx-button", onclick: show }, name),
    setAbout(about: { has_row_ids: boolean }) {
      element.placeholder = about.has_row_ids ? "row ID, or address 3:17" : "address, such as 3:17";
    },
    setRow(row: string | null) {
      const text = row ?? "";
      if (text === shown) return; // what is being typed stays
      if (text || element.value === shown) element.value = text;
      shown = text;
    },
    clear() {
      element.value = "";
    },
  };
}
