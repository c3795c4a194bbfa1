// The table of a RowsView (rows_view.py): only the rows in sight, and some around them, are here.

import "./rows.css";
import { h, render } from "preact";
import { node } from "./elements";
import type { Link } from "./link";
import type { GridViewQuestions, RowsAbout, RowsViewQuestions } from "./messages";
import { rowBar } from "./rows_bar";
import { rowBody } from "./rows_body";
import { rowChoice } from "./rows_choice";
import { rowFrame } from "./rows_frame";
import { nextSorts, rowHeads } from "./rows_heads";
import { rowPages } from "./rows_pages";
import { type Place, ROW_HEIGHT, rowsInSight, type Sight } from "./rows_place";
import { rowScroll } from "./rows_scroll";
import { columnWidths } from "./rows_widths";
import { tooltip } from "./tooltip";
import { detailPane } from "./value_detail";

const TALL_ROW_HEIGHT = 56; // px; rows with pictures are tall

const [AROUND, FEW_AROUND] = [40, 6]; // rows asked for above and below those in sight; few of large values

interface RowActions {
  /** A row is clicked, or chosen by the space bar. */
  onRow?: (row: number) => void;
  /** What is said until there are rows, or none. */
  waiting?: string;
}

/**
 * The grid of a view's rows, with filter box, picker of columns and detail. `height` is the most
 * rows in sight, as long as they are not tall. Gives: `element`, `setHeight(rows)`, and
 * `markRow(id)`, which marks the row with an ID. It follows the rows of the view by itself.
 */
export function rowTable(link: Link<GridViewQuestions>, height = 12, { onRow, waiting = "" }: RowActions = {}) {
  const prefix = `lx${Math.random().toString(36).slice(2)}`; // of the IDs of cells
  let about!: RowsAbout; // what Python says about the rows
  const sight: Sight = { numRows: 0, inSight: 1, rowHeight: ROW_HEIGHT };
  let marked: string | null = null; // the ID of a row

  const tip = tooltip(link.root);
  const pages = rowPages(link, wanted, pageCame);
  const heads = rowHeads(link, prefix, tip, {
    onSort: sortBy,
    onDrag: (event, column) => widths.drag(event, column),
    onFit: (column) => widths.fit(column, pages.page()),
  });
  const body = rowBody(prefix, tip, { onCell: clicked, onTwice: openDetail, onText: () => grid.focus() });
  const table = node("table", { role: "presentation" }, node("thead", {}, heads.element), body.element);
  const widths = columnWidths(table, layOut);
  table.prepend(widths.element);
  const frame = rowFrame(table);
  const grid = frame.element;
  const scroll = rowScroll(grid, sight, drawAndFetch);
  const detail = detailPane(link, () => grid.focus());
  const bar = rowBar(link, heads.ofRows, () => grid.focus());
  const below = node("div", {});
  render(h(detail.Pane, {}), below);
  const coming = node("p", { class: "lx-quiet lx-rows-loading" }, waiting);
  const element = node("div", { class: "lx-rows lx-rows-coming" }, coming, bar.element, grid, below);
  const choice = rowChoice(link, {
    extent: () =>
      about ? { inSight: sight.inSight, numRows: about.num_rows, numColumns: about.columns.length } : null,
    isSelected(row) {
      const page = pages.page();
      return !page || page.selected[row - page.first];
    },
    onActive: showActive,
    onRow,
    onSort: sortBy,
    onOpen: openDetail,
    onClose() {
      const isOpen = detail.isOpen();
      if (isOpen) detail.close();
      return isOpen;
    },
    onFilter: bar.focus,
    onCopy: bar.copyCsv,
  });

  // --- what is known about the rows

  function take(description: RowsAbout) {
    link.busy(null);
    const differs = (name: keyof RowsAbout) => JSON.stringify(about?.[name]) !== JSON.stringify(description[name]);
    const isOther = differs("columns");
    const keepsPlace = !(["columns", "num_rows", "filter", "sorts"] as const).some(differs);
    about = description;
    sight.numRows = about.num_rows;
    pages.forget();
    if (isOther) buildColumns();
    if (!keepsPlace) {
      choice.reset(isOther ? 0 : choice.active().column);
      scroll.reset();
    }
    layOut();
    bar.show(about);
    drawAndFetch();
    heads.update(about);
  }

  function buildColumns() {
    sight.rowHeight = ROW_HEIGHT;
    widths.clear(about.columns);
    heads.build(about);
    body.clear(about.columns);
  }

  /** Ascending, then descending, then as it was. */
  function sortBy(column: number, isAlso: boolean) {
    const { is_sortable, place } = about.columns[column];
    if (is_sortable) (link as Link<RowsViewQuestions>).ask("sort", { sorts: nextSorts(about.sorts, place, isAlso) });
  }

  // --- rows

  function layOut() {
    sight.inSight = rowsInSight(sight, height);
    if (widths.isMeasured()) widths.apply(about.num_source_rows);
    frame.fit(about, sight);
    const isComing = !about.num_columns && !about.failure; // nobody has said yet which rows
    element.classList.toggle("lx-rows-coming", isComing);
    coming.hidden = !isComing;
    body.setLines(about.num_rows ? sight.inSight : 0);
    scroll.place();
  }

  function wanted() {
    if (!about?.num_rows) return null;
    const around = about.columns.some(({ kind }) => kind !== "plain") ? FEW_AROUND : AROUND;
    const first = scroll.first();
    return { first, last: Math.min(first + sight.inSight, about.num_rows), around };
  }

  function pageCame() {
    const page = pages.page();
    const isTall = page?.pieces.some((pieces) => pieces?.some((piece) => piece?.kind === "image" && piece.data));
    if (isTall && sight.rowHeight === ROW_HEIGHT) {
      sight.rowHeight = TALL_ROW_HEIGHT;
      layOut();
    }
    if (!widths.isMeasured()) {
      draw();
      widths.measure(page);
      layOut();
    }
    draw();
  }

  function draw() {
    const [first, active] = [scroll.first(), choice.active()];
    body.draw({ page: pages.page(), first, active, marked });
    const isHead = active.row < 0;
    heads.activate(isHead ? active.column : -1);
    const id = isHead ? heads.idOf(active.column) : body.idOf(active.row - first, active.column);
    grid.setAttribute("aria-activedescendant", id);
    grid.dataset.first = String(first);
  }

  function drawAndFetch() {
    draw();
    pages.fetch();
  }

  // --- the active cell

  function showActive({ row, column }: Place) {
    if (row >= 0 && scroll.bring(row)) pages.fetch();
    const [numbers, ...cells] = heads.element.cells;
    frame.show(cells[column], numbers);
    draw();
    if (detail.isOpen()) openDetail();
  }

  function openDetail() {
    const active = choice.active();
    const column = about.columns[active.column];
    if (active.row >= 0 && about.num_rows && column) detail.open(active.row, column.place);
  }

  function clicked(at: Place, event: MouseEvent, isWhole: boolean) {
    if (at.row >= about.num_rows) return;
    choice.activate(at);
    choice.select(at.row, event);
    const isPlain = !(event.shiftKey || event.ctrlKey || event.metaKey);
    if (isPlain && !isWhole) openDetail();
  }

  grid.addEventListener("keydown", choice.pressed);
  link.on("rows", take);
  link.on("busy", ({ text }: { text: string | null }) => link.busy(text));
  link.on("selection", ({ num_selected }: { num_selected: number }) => {
    if (!about) return;
    about = { ...about, num_selected };
    bar.show(about);
    pages.fetch(true);
  });
  link.ask("rows").then((rows) => about || take(rows)); // what was told meanwhile is newer

  return {
    element,
    setHeight(rows: number) {
      height = rows;
      if (!about) return;
      layOut();
      drawAndFetch();
    },
    markRow(id: string | null) {
      if (marked === id) return;
      marked = id;
      if (about) draw();
    },
  };
}
