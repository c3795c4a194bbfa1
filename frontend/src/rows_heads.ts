// The head of a grid: names and types of columns, what their values are like, and what they are sorted by.

import { headPicture, headWords, rowsOfHeads } from "./column_heads";
import { fill, node } from "./elements";
import type { Link } from "./link";
import type { ColumnHeads, RowColumn, RowsAbout } from "./messages";
import { cut } from "./text";
import type { Tooltip } from "./tooltip";

/** Columns by their places, and whether each is descending. */
export type Sorts = RowsAbout["sorts"];

interface HeadActions {
  onSort: (column: number, isAlso: boolean) => void;
  /** The edge of a column is dragged, or clicked twice. */
  onDrag: (event: PointerEvent, column: number) => void;
  onFit: (column: number) => void;
}

/**
 * The line of heads: `element`, `ofRows` (the element that says which rows they tell of),
 * `build(about)`, `update(about)`, which asks what the values are like, `activate(column)`, -1 for
 * none, `idOf(column)`.
 */
export function rowHeads(link: Link, prefix: string, tip: Tooltip, actions: HeadActions) {
  const element = node("tr", { role: "row", "aria-rowindex": 1 });
  const ofRows = node("span", { class: "lx-quiet" });
  let asked = 0;

  const idOf = (column: number) => `${prefix}-h-${column}`;

  function build(about: RowsAbout) {
    fill(
      element,
      node("th", { class: "lx-rows-number", "aria-label": "Position" }),
      ...about.columns.map((column, i) => headCell(column, i, about.can_arrange)),
    );
  }

  function headCell(column: RowColumn, i: number, canArrange: boolean) {
    const title = `${cut(column.name, 500)}\n${cut(column.dtype, 500)}${sortHint(column, canArrange)}`;
    const grip = node("span", {
      class: "lx-rows-grip",
      onpointerdown: (event) => actions.onDrag(event, i),
      ondblclick: () => actions.onFit(i),
      title: "Drag to resize, double-click to fit",
    });
    const cell = node(
      "th",
      {
        id: idOf(i),
        role: "columnheader",
        class: column.is_number ? "lx-number" : null,
        "aria-colindex": i + 1,
        onclick: (event) => {
          if (event.target !== grip) actions.onSort(i, event.shiftKey);
        },
      },
      node("span", { class: "lx-rows-name", title }, cut(column.name, 80)),
      node("span", { class: "lx-rows-dtype", title }, cut(column.dtype, 60)),
      node("div", { class: "lx-rows-spread" }),
      grip,
    );
    cell.classList.toggle("lx-sortable", column.is_sortable);
    return cell;
  }

  function sortHint({ is_sortable }: RowColumn, canArrange: boolean) {
    if (link.offline) return "";
    if (is_sortable) return "\nClick to sort, with Shift to sort by this as well";
    return canArrange ? "\nThese values have no order" : "";
  }

  async function update(about: RowsAbout) {
    element.classList.add("lx-old-heads"); // until those of these rows are here
    markSorts(about);
    asked += 1;
    const mine = asked;
    if (!about.columns.length || !about.num_rows) {
      showValues(about.columns, null);
      return;
    }
    const got = await link.ask<ColumnHeads>("heads", {}, () => {}); // the rows tell what fails
    if (mine === asked && got.heads.length === about.columns.length) showValues(about.columns, got);
  }

  function markSorts({ columns, sorts }: RowsAbout) {
    for (const [i, { place }] of columns.entries()) {
      const at = sorts.findIndex(([sorted]) => sorted === place);
      const cell = element.cells[i + 1];
      cell.setAttribute("aria-sort", at < 0 ? "none" : sorts[at][1] ? "descending" : "ascending");
      cell.dataset.order = at < 0 || sorts.length < 2 ? "" : String(at + 1);
    }
  }

  function showValues(columns: RowColumn[], got: ColumnHeads | null) {
    element.classList.remove("lx-old-heads");
    for (const i of columns.keys()) {
      const cell = element.cells[i + 1];
      const place = cell.querySelector(".lx-rows-spread");
      if (!place) continue;
      fill(place, ...(got ? [headPicture(got.heads[i], got, tip)] : []));
      cell.setAttribute("aria-description", got ? headWords(got.heads[i], got).join("; ") : "");
    }
    ofRows.textContent = got && got.num_rows < got.num_total ? `heads: ${rowsOfHeads(got)}` : "";
  }

  return {
    element,
    ofRows,
    build,
    update,
    idOf,
    activate(column: number) {
      for (const [i, cell] of [...element.cells].entries()) {
        cell.classList.toggle("lx-active", column >= 0 && i === column + 1);
      }
    },
  };
}

/**
 * What a column is sorted by next: ascending, then descending, then no more. The others stay if it
 * is to be sorted by this as well.
 */
export function nextSorts(sorts: Sorts, place: number, isAlso: boolean): Sorts {
  const at = sorts.findIndex(([other]) => other === place);
  const next: Sorts = at < 0 ? [[place, false]] : sorts[at][1] ? [] : [[place, true]];
  if (!isAlso) return next;
  return at < 0 ? [...sorts, ...next] : sorts.toSpliced(at, 1, ...next);
}
