// The cells of a grid: a line for each row in sight, filled anew as others come in sight.

import { h } from "preact";
import { fillCell } from "./cells";
import { node } from "./elements";
import type { RowColumn, RowsPage } from "./messages";
import type { Place } from "./rows_place";
import type { Tooltip } from "./tooltip";

/** What the lines show. */
export interface Shown {
  page: RowsPage | null;
  /** The row on top. */
  first: number;
  active: Place;
  /** The ID of a row that is marked. */
  marked: string | null;
}

interface BodyActions {
  /** A cell is clicked, which shows all of its value or not. */
  onCell: (at: Place, event: MouseEvent, isWhole: boolean) => void;
  onTwice: () => void;
  /** The mouse would select text. */
  onText: () => void;
}

/** The lines: `element`, `clear(columns)`, `setLines(count)`, `draw(shown)`, `idOf(line, column)`. */
export function rowBody(prefix: string, tip: Tooltip, { onCell, onTwice, onText }: BodyActions) {
  const element = node("tbody", {
    onclick: clicked,
    onmousedown(event) {
      if (event.detail < 2 && !event.shiftKey) return;
      event.preventDefault();
      onText();
    },
    ondblclick: onTwice,
    onmouseover: explain,
    onmousemove: enlarge,
    onmouseleave: () => tip.hide(),
  });
  let columns: RowColumn[] = [];

  const idOf = (line: number, column: number) => `${prefix}-${line}-${column}`;

  function newLine(at: number) {
    const cells = columns.map((column, i) =>
      node("td", {
        id: idOf(at, i),
        role: "gridcell",
        "aria-colindex": i + 1,
        class: column.is_number ? "lx-number" : null,
      }),
    );
    return node("tr", { role: "row" }, node("th", { class: "lx-rows-number", scope: "row" }), ...cells);
  }

  function drawLine(line: HTMLTableRowElement, row: number, { page, active, marked }: Shown) {
    const at = page ? row - page.first : -1;
    const here = at >= 0 && at < (page?.positions.length ?? 0) ? page : null;
    line.setAttribute("aria-rowindex", String(row + 2));
    line.dataset.row = String(row);
    line.classList.toggle("lx-waiting", !here);
    line.setAttribute("aria-selected", String(here?.selected[at] ?? false));
    line.cells[0].textContent = here ? String(here.positions[at]) : "";
    const ids = marked === null ? -1 : columns.findIndex(({ name }) => name === "_rowid");
    line.classList.toggle("lx-of-row", ids >= 0 && here?.cells[ids][at] === marked);
    for (const [i, column] of columns.entries()) {
      const isActive = row === active.row && i === active.column;
      drawCell(line.cells[i + 1], column, here && cellOf(here, i, at), isActive);
    }
  }

  function clicked(event: MouseEvent) {
    const cell = (event.target as Element).closest<HTMLTableCellElement>("td, th");
    const line = cell?.closest("tr");
    if (!cell || line?.dataset.row === undefined) return;
    const at = { row: Number(line.dataset.row), column: Math.max(0, cell.cellIndex - 1) };
    onCell(at, event, !cell.classList.contains("lx-more"));
  }

  /** The whole of what a cell has no room for, when the pointer comes to it. */
  function explain(event: MouseEvent) {
    const cell = (event.target as Element).closest("td");
    if (!cell || cell.title) return;
    if (cell.classList.contains("lx-mark-absent")) cell.title = "This version has no such column";
    const isMore = cell.classList.contains("lx-more");
    if (isMore || cell.scrollWidth > cell.clientWidth)
      cell.title = `${cell.textContent}${isMore ? "\n\nClick to see all of it" : ""}`;
  }

  /** A picture, larger, while the pointer is on it. */
  function enlarge(event: MouseEvent) {
    const picture = (event.target as Element).closest("td img");
    if (picture instanceof HTMLImageElement)
      tip.show(event, h("img", { class: "lx-large", src: picture.src, alt: picture.alt }));
    else tip.hide();
  }

  return {
    element,
    idOf,
    clear(others: RowColumn[]) {
      columns = others;
      element.replaceChildren();
    },
    setLines(count: number) {
      while (element.rows.length > count) element.deleteRow(-1);
      while (element.rows.length < count) element.append(newLine(element.rows.length));
    },
    draw(shown: Shown) {
      for (const [i, line] of [...element.rows].entries()) drawLine(line, shown.first + i, shown);
    },
  };
}

/** What a page has of one cell. */
function cellOf({ cells, marks, pieces, more, earlier }: RowsPage, column: number, at: number) {
  const mark = marks[column]?.[at] ?? null;
  return {
    text: cells[column][at],
    mark,
    piece: pieces[column]?.[at] ?? null,
    isMore: more[column]?.[at] ?? false,
    ...(mark === "changed" && earlier[column] ? { earlier: earlier[column][at] } : {}),
  };
}

function drawCell(
  cell: HTMLTableCellElement,
  { is_number, kind }: RowColumn,
  here: ReturnType<typeof cellOf> | null,
  isActive: boolean,
) {
  const { text, mark, piece, isMore, ...earlier } = here ?? { text: "", mark: null, piece: null, isMore: false };
  const styles = [
    is_number && "lx-number",
    text === null && "lx-null",
    (isMore || piece || (text !== null && kind === "nested")) && "lx-more",
    piece && "lx-piece",
    mark && `lx-mark lx-mark-${mark}`,
    isActive && "lx-active",
  ];
  const style = styles.filter(Boolean).join(" ");
  if (cell.className !== style) cell.className = style;
  fillCell(cell, { text, piece, ...earlier, isAbsent: mark === "absent" });
  if (cell.title) cell.title = "";
}
