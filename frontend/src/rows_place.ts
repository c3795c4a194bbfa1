// Which rows of a grid are in sight, and where its scroll bar stands for them.

/** So many of the rows are in sight at a time. */
export interface Sight {
  numRows: number;
  inSight: number;
  rowHeight: number; // px
}

export const ROW_HEIGHT = 24; // px, but for rows with pictures, which are taller

const FEWEST_TALL = 3; // rows in sight, of tall ones

const TALLEST = 8e6; // px; browsers clip what is taller

/** How many rows are in sight where there is room for so many that are not tall. */
export function rowsInSight({ numRows, rowHeight }: Omit<Sight, "inSight">, room: number) {
  const most = rowHeight === ROW_HEIGHT ? room : Math.max(FEWEST_TALL, Math.round((room * ROW_HEIGHT) / rowHeight));
  return Math.max(1, Math.min(most, numRows));
}

/** How tall all rows are for the scroll bar, in px; a grid without rows is one row tall. */
export function allRowsHeight({ numRows, rowHeight }: Sight) {
  return Math.min(Math.max(1, numRows) * rowHeight, TALLEST);
}

/** Whether the scroll bar stands for more rows than it has pixels. */
export function isCoarse({ numRows, rowHeight }: Sight) {
  return numRows * rowHeight > TALLEST;
}

/** The row on top when the last is in sight. */
export function lastFirst({ numRows, inSight }: Sight) {
  return Math.max(0, numRows - inSight);
}

/** Where the scroll bar stands with a row on top. */
export function scrollTopOf(sight: Sight, first: number) {
  return lastFirst(sight) ? (first / lastFirst(sight)) * reach(sight) : 0;
}

/** The row on top when the scroll bar stands there. */
export function firstAt(sight: Sight, scrollTop: number) {
  return within(sight, Math.round((scrollTop / Math.max(1, reach(sight))) * lastFirst(sight)));
}

/** The nearest row that can be on top. */
export function within(sight: Sight, row: number) {
  return Math.max(0, Math.min(row, lastFirst(sight)));
}

/** The row on top, once a row is brought in sight by the least that does. */
export function firstWith({ inSight }: Sight, first: number, row: number) {
  if (row < first) return row;
  return row >= first + inSight ? row - inSight + 1 : first;
}

function reach({ numRows, inSight, rowHeight }: Sight) {
  return Math.min(numRows * rowHeight, TALLEST) - inSight * rowHeight;
}

/** A cell; row -1 is the head. */
export interface Place {
  row: number;
  column: number;
}

export interface Extent {
  inSight: number;
  numRows: number;
  numColumns: number;
}

/** Where a key leads from a cell, null if it does not; the place may be beyond the cells there are. */
export function keyTarget(key: string, isCommand: boolean, { row, column }: Place, extent: Extent): Place | null {
  const { inSight, numRows, numColumns } = extent;
  const targets: Record<string, Place> = {
    ArrowUp: { row: row - 1, column },
    ArrowDown: { row: row + 1, column },
    ArrowLeft: { row, column: column - 1 },
    ArrowRight: { row, column: column + 1 },
    PageUp: { row: Math.max(0, row - inSight), column },
    PageDown: { row: row + inSight, column },
    Home: isCommand ? { row: 0, column } : { row, column: 0 },
    End: isCommand ? { row: numRows - 1, column } : { row, column: numColumns - 1 },
  };
  return targets[key] ?? null;
}

/** The nearest cell that there is, of the head too. */
export function nearestCell({ row, column }: Place, { numRows, numColumns }: Omit<Extent, "inSight">): Place {
  return {
    row: Math.max(-1, Math.min(row, numRows - 1)),
    column: Math.max(0, Math.min(column, numColumns - 1)),
  };
}
