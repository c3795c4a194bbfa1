// Which row of a grid is on top: by its scroll bar, by the wheel, or as another is brought in sight.

import { firstAt, firstWith, isCoarse, type Sight, scrollTopOf, within } from "./rows_place";

/**
 * Gives `first()`, the row on top; `reset()`, for other rows; `place()`, which moves the scroll bar
 * to where that row is; and `bring(row)`, which scrolls as little as brings a row in sight and tells
 * whether it had to. `onScroll` is told that somebody scrolled to another row.
 */
export function rowScroll(grid: HTMLElement, sight: Sight, onScroll: () => void) {
  let first = 0;
  let placedTop = -1; // where we scrolled to ourselves
  let wheeled = 0; // px, less than a row

  function place() {
    first = within(sight, first);
    grid.scrollTop = scrollTopOf(sight, first);
    placedTop = grid.scrollTop;
  }

  function moveTo(row: number) {
    if (row === first) return;
    first = row;
    onScroll();
  }

  grid.addEventListener("scroll", () => {
    if (Math.abs(grid.scrollTop - placedTop) < 1) return;
    placedTop = -1;
    moveTo(firstAt(sight, grid.scrollTop));
  });

  // Where the bar stands for more rows than it has pixels, the wheel still goes row by row.
  grid.addEventListener(
    "wheel",
    (event) => {
      if (!isCoarse(sight) || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
      wheeled += event.deltaY * (event.deltaMode === 1 ? sight.rowHeight : 1);
      const rows = Math.trunc(wheeled / sight.rowHeight);
      const row = within(sight, first + rows);
      if (rows && row === first) {
        wheeled = 0;
        return; // at the end the page may scroll
      }
      event.preventDefault();
      wheeled -= rows * sight.rowHeight;
      moveTo(row);
      place();
    },
    { passive: false },
  );

  return {
    first: () => first,
    place,
    reset() {
      first = 0;
    },
    bring(row: number) {
      const top = firstWith(sight, first, row);
      if (top === first) return false;
      first = top;
      place();
      return true;
    },
  };
}
