// How wide the columns of a grid are: by their contents, or as somebody dragged them.

import { contextOf } from "./canvas";
import { node } from "./elements";
import type { RowColumn, RowsPage } from "./messages";
import { visible } from "./text";

const [NARROWEST, WIDEST, GUTTER] = [56, 320, 20]; // px, of columns

const ROOM_FOR_VALUES = 90; // px, of a column whose head names values

const PIECE_WIDTH = 96; // px, of a picture or a line beside text

const MOST_CHARACTERS = { name: 60, dtype: 24, cell: 60 }; // that are measured

/**
 * The widths of the columns of a table: `element`, `clear(columns)`, `isMeasured()`,
 * `measure(page)`, `fit(column, page)`, `drag(event, column)` and `apply(numRows)`, for the numbers
 * of that many rows. `onDragged` is told that a column has its width.
 */
export function columnWidths(table: HTMLTableElement, onDragged: () => void) {
  const element = node("colgroup");
  let columns: RowColumn[] = [];
  let widths: number[] = [];
  let numbers = 0; // the width of the column of numbers

  function measured(page: RowsPage | null) {
    const context = contextOf(document.createElement("canvas"));
    const measure = (text: string, font: string) => {
      context.font = font;
      return context.measureText(text).width;
    };
    const style = getComputedStyle(table.querySelector("tbody td") ?? table);
    const { fontFamily: headFamily } = getComputedStyle(table.querySelector("thead tr") ?? table);
    const cellFont = `${style.fontSize} ${style.fontFamily}`;
    return columns.map((column, i) => {
      const texts = page ? page.cells[i].map((_, row) => cellText(page, i, row)) : [];
      const cells = Math.max(0, ...texts.map(({ text, more }) => measure(text, cellFont) + more));
      const name = measure(visible(column.name).slice(0, MOST_CHARACTERS.name), `600 13px ${headFamily}`) + 14;
      const dtype = measure(column.dtype.slice(0, MOST_CHARACTERS.dtype), `11px ${style.fontFamily}`);
      return columnWidth(column, Math.max(name, dtype, cells));
    });
  }

  function show() {
    const all = [numbers, ...widths];
    for (const [i, width] of all.entries()) (element.children[i] as HTMLElement).style.width = `${width}px`;
    table.style.width = `${all.reduce((sum, width) => sum + width, 0)}px`;
  }

  return {
    element,
    clear(others: RowColumn[]) {
      columns = others;
      widths = [];
      element.replaceChildren(...[null, ...columns].map(() => node("col")));
    },
    isMeasured: () => widths.length > 0,
    measure(page: RowsPage | null) {
      widths = measured(page);
    },
    fit(column: number, page: RowsPage | null) {
      widths[column] = measured(page)[column];
      show();
    },
    drag(event: PointerEvent, column: number) {
      event.preventDefault();
      const grip = event.target as HTMLElement;
      const [start, width] = [event.clientX, widths[column]];
      grip.setPointerCapture(event.pointerId);
      grip.onpointermove = (moved) => {
        widths[column] = Math.max(NARROWEST, width + moved.clientX - start);
        show();
      };
      grip.onpointerup = () => {
        grip.onpointermove = null;
        grip.onpointerup = null;
        onDragged();
      };
    },
    apply(numRows: number) {
      numbers = numbersWidth(numRows);
      show();
    },
  };
}

/** The width of a column whose contents are so wide, in px. */
export function columnWidth({ kind, is_number }: Pick<RowColumn, "kind" | "is_number">, contents: number) {
  const least = kind === "plain" && !is_number ? ROOM_FOR_VALUES : NARROWEST;
  return Math.ceil(Math.min(WIDEST, Math.max(least, contents) + GUTTER) + 1);
}

/** The width of the column that numbers so many rows, in px. */
export function numbersWidth(numRows: number) {
  return Math.max(40, 9 * String(numRows).length + 16);
}

/** The text of a cell that is measured, and how many px stand beside it. */
function cellText({ cells, pieces, earlier, marks }: RowsPage, column: number, row: number) {
  const brief = (text: string | null) => visible(text ?? "null").slice(0, MOST_CHARACTERS.cell);
  const piece = pieces[column]?.[row];
  const isChanged = marks[column]?.[row] === "changed" && earlier[column];
  const shown = piece && piece.kind !== "line" ? piece.words : brief(cells[column][row]);
  const before = isChanged ? `${brief(earlier[column]?.[row] ?? null)} → ` : "";
  return { text: before + shown, more: piece ? PIECE_WIDTH : 0 };
}
