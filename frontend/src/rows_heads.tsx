// The head of a grid: names and types of columns, what their values are like, and what they are sorted by.

import { signal } from "@preact/signals";
import { render } from "preact";
import { headPicture, headWords, rowsOfHeads } from "./column_heads";
import { node } from "./elements";
import type { Link } from "./link";
import type { ColumnHeads, GridViewQuestions, RowColumn, RowsAbout } from "./messages";
import { set } from "./reactive";
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
 * The line of heads: `element`, `ofRows` (which rows they tell of),
 * `build(about)`, `update(about)`, which asks what the values are like, `activate(column)`, -1 for
 * none, `idOf(column)`.
 */
export function rowHeads(link: Link<GridViewQuestions>, prefix: string, tip: Tooltip, actions: HeadActions) {
  const element = node("tr", { role: "row", "aria-rowindex": 1 });
  const ofRows = signal("");
  const shown = signal<RowsAbout | null>(null);
  const values = signal<ColumnHeads | null>(null);
  const active = signal(-1);
  let asked = 0;

  const idOf = (column: number) => `${prefix}-h-${column}`;

  /** Show only some of the rows that are shown. */
  function filterBy(where: string) {
    const { filter = "", is_expression = false } = shown.value ?? {};
    if (!link.offline) link.setState({ filter: filter && is_expression ? `(${filter}) AND ${where}` : where });
  }

  function sortHint({ is_sortable }: RowColumn) {
    if (link.offline) return "";
    if (is_sortable) return "\nClick to sort, with Shift to sort by this as well";
    return "\nThese values have no order";
  }

  function headCell(column: RowColumn, i: number, sorts: Sorts) {
    const title = `${cut(column.name, 500)}\n${cut(column.dtype, 500)}${sortHint(column)}`;
    const at = sorts.findIndex(([sorted]) => sorted === column.place);
    const got = values.value;
    const style = [
      column.is_number && "lx-number",
      column.is_sortable && "lx-sortable",
      i === active.value && "lx-active",
    ];
    return (
      <th
        id={idOf(i)}
        role="columnheader"
        class={style.filter(Boolean).join(" ")}
        aria-colindex={i + 1}
        aria-sort={at < 0 ? "none" : sorts[at][1] ? "descending" : "ascending"}
        aria-description={got ? headWords(got.heads[i], got).join("; ") : ""}
        data-order={at < 0 || sorts.length < 2 ? "" : at + 1}
        onClick={({ target, shiftKey }) =>
          (target as Element).classList.contains("lx-rows-grip") || actions.onSort(i, shiftKey)
        }
      >
        <span class="lx-rows-name" title={title}>
          {cut(column.name, 80)}
        </span>
        <span class="lx-rows-dtype" title={title}>
          {cut(column.dtype, 60)}
        </span>
        <div class="lx-rows-spread">{got && headPicture(got.heads[i], got, tip, filterBy)}</div>
        <span
          class="lx-rows-grip"
          onPointerDown={(event) => actions.onDrag(event, i)}
          onDblClick={() => actions.onFit(i)}
          title="Drag to resize, double-click to fit"
        />
      </th>
    );
  }

  const Heads = () => (
    <>
      <th class="lx-rows-number" aria-label="Position" />
      {shown.value?.columns.map((column, i) => headCell(column, i, shown.value?.sorts ?? []))}
    </>
  );
  render(<Heads />, element);

  async function update(about: RowsAbout) {
    element.classList.add("lx-old-heads"); // until those of these rows are here
    shown.value = about;
    asked += 1;
    const mine = asked;
    const isAny = about.columns.length > 0 && about.num_rows > 0;
    const got = isAny ? await link.ask("heads", {}, () => {}) : null; // the rows tell what fails
    if (mine !== asked || (got && got.heads.length !== about.columns.length)) return;
    element.classList.remove("lx-old-heads");
    values.value = got;
    ofRows.value = got && got.num_rows < got.num_total ? `heads: ${rowsOfHeads(got)}` : "";
  }

  return {
    element,
    ofRows,
    build(about: RowsAbout) {
      values.value = null;
      shown.value = about;
    },
    update,
    idOf,
    activate: (column: number) => set(active, column),
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
