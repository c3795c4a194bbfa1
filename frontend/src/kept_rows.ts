// The rows of a grid in a page without Python: the first rows of a version, of changes, of a life.

import type { CellDetail, KeptRows, News, RowsAbout } from "./messages";

const NOTHING: RowsAbout = {
  columns: [],
  num_columns: 0,
  num_rows: 0,
  num_source_rows: 0,
  num_selected: 0,
  filter: "",
  sorts: [],
  failure: null,
  is_expression: false,
};

/** Answers what a grid asks; `show(rows)` shows others, null none. */
export function keptRows(tell: <Kind extends keyof News>(kind: Kind, content: News[Kind]) => void, cutWords: string) {
  let shown: KeptRows = {};
  let selected = new Set<number>();

  const numRows = () => shown.page?.positions.length ?? 0;

  function describe(): RowsAbout {
    const { about, not_answered: failure = null } = shown;
    if (!about) return { ...NOTHING, failure };
    const columns = about.columns.map((column) => ({ ...column, is_sortable: false }));
    return { ...about, columns, num_rows: numRows(), num_selected: selected.size };
  }

  function detail(row: number, place: number): CellDetail | null {
    const { about, page } = shown;
    const at = about?.columns.findIndex((column) => column.place === place) ?? -1;
    if (!about || !page || at < 0 || row >= numRows()) return null;
    const { name, dtype, kind } = about.columns[at];
    const whole = (text: string | null) => ({ text, size: null, shown: 0, unit: "" });
    const isChanged = page.marks[at]?.[row] === "changed" && page.earlier[at];
    return {
      name,
      dtype,
      kind,
      position: page.positions[row],
      ...whole(page.cells[at][row]),
      piece: page.pieces[at]?.[row] ?? null,
      earlier: isChanged ? whole(page.earlier[at][row]) : null,
      note: page.more[at]?.[row] ? cutWords : "",
    };
  }

  function select(row: number, how: string) {
    if (how === "none") selected = new Set();
    else if (how === "all") selected = new Set(Array.from({ length: numRows() }, (_, i) => i));
    else if (how === "only") selected = new Set([row]);
    else if (!selected.delete(row)) selected.add(row);
    tell("selection", { num_selected: selected.size });
  }

  return {
    describe,
    page: () => shown.page && { ...shown.page, selected: shown.page.positions.map((_, i) => selected.has(i)) },
    heads: () => shown.heads,
    detail,
    select,
    /** The row ID of a row, null if it is not known. */
    idOf: (row: number) => shown.ids?.[row] ?? null,
    show(rows: KeptRows | null) {
      shown = rows ?? {};
      selected = new Set();
      tell("rows", describe());
    },
  };
}
