// The box that a grid scrolls in: how tall it is for its rows, and what it says if there are none.

import { node } from "./elements";
import type { RowsAbout } from "./messages";
import { allRowsHeight, ROW_HEIGHT, type Sight } from "./rows_place";

const HEAD_HEIGHT = 86;

/**
 * The box around a table: `element`, `fit(about, sight)`, and `show(cell, beside)`, which scrolls
 * sideways to a cell that is out of sight, or under the cells beside it that stay.
 */
export function rowFrame(table: HTMLTableElement) {
  const nothing = node("div", { class: "lx-rows-nothing", hidden: true });
  const pane = node("div", { class: "lx-rows-pane" }, table, nothing);
  const space = node("div", { class: "lx-rows-space" }, pane);
  const element = node(
    "div",
    { class: "lx-rows-grid", role: "grid", tabindex: 0, "aria-label": "Rows", "aria-multiselectable": "true" },
    space,
  );
  let tall = HEAD_HEIGHT; // px, of what is in sight

  /** Give the scroll bar at the bottom room of its own; it is there or not only once columns have their widths. */
  function stretch() {
    const beside = element.offsetHeight - element.clientHeight; // the scroll bar, and borders
    element.style.height = `${tall + beside}px`;
  }
  new ResizeObserver(() => requestAnimationFrame(stretch)).observe(element);

  return {
    element,
    fit({ num_rows, columns, filter }: RowsAbout, sight: Sight) {
      element.classList.toggle("lx-tall", sight.rowHeight !== ROW_HEIGHT);
      space.style.height = `${HEAD_HEIGHT + allRowsHeight(sight)}px`;
      tall = HEAD_HEIGHT + sight.inSight * sight.rowHeight;
      stretch();
      element.setAttribute("aria-rowcount", String(num_rows + 1));
      element.setAttribute("aria-colcount", String(columns.length));
      nothing.hidden = num_rows > 0 && columns.length > 0;
      nothing.textContent = filter ? "No row matches the filter" : "No rows";
    },
    show(cell: HTMLElement, beside: HTMLElement) {
      const left = cell.offsetLeft - beside.offsetWidth;
      if (left < element.scrollLeft) element.scrollLeft = left;
      const right = cell.offsetLeft + cell.offsetWidth - element.clientWidth;
      if (right > element.scrollLeft) element.scrollLeft = right;
    },
  };
}
