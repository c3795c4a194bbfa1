// The table of a RowsView (rows_view.py): only the rows in sight, and some around them, are here.

import "./rows.css";
import { node } from "./elements";
import type { Link } from "./link";
import type { RowsAbout } from "./messages";
import { rowBar } from "./rows_bar";
import { rowBody } from "./rows_body";
import { nextSorts, rowHeads } from "./rows_heads";
import { rowPages } from "./rows_pages";
import {
  allRowsHeight,
  firstAt,
  firstWith,
  isCoarse,
  keyTarget,
  type Place,
  type Sight,
  scrollTopOf,
  within,
} from "./rows_place";
import { columnWidths } from "./rows_widths";
import { tooltip } from "./tooltip";
import { detailPane } from "./value_detail";

type Pressed = Partial<Pick<MouseEvent, "shiftKey" | "ctrlKey" | "metaKey">>;

const [ROW_HEIGHT, TALL_ROW_HEIGHT] = [24, 56]; // px; rows with pictures are tall

const HEAD_HEIGHT = 86;

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
export function rowTable(link: Link, height = 12, { onRow, waiting = "" }: RowActions = {}) {
  const prefix = `lx${Math.random().toString(36).slice(2)}`; // of the IDs of cells
  let about!: RowsAbout; // what Python says about the rows
  const sight: Sight = { numRows: 0, inSight: 1, rowHeight: ROW_HEIGHT };
  let first = 0; // the row on top
  let placedTop = -1; // where we scrolled to ourselves
  let active: Place = { row: 0, column: 0 };
  let anchor = 0; // where a range that is selected begins
  let marked: string | null = null; // the ID of a row

  // --- elements

  const tip = tooltip(link.root);
  const pages = rowPages(link, wanted, pageCame);
  const heads = rowHeads(link, prefix, tip, {
    onSort: sortBy,
    onDrag: (event, column) => widths.drag(event, column),
    onFit: (column) => widths.fit(column, pages.page()),
  });
  const body = rowBody(prefix, tip);
  const table = node("table", { role: "presentation" }, node("thead", {}, heads.element), body.element);
  const widths = columnWidths(table, layOut);
  table.prepend(widths.element);
  const nothing = node("div", { class: "lx-rows-nothing", hidden: true });
  const pane = node("div", { class: "lx-rows-pane" }, table, nothing);
  const space = node("div", { class: "lx-rows-space" }, pane);
  const grid = node(
    "div",
    { class: "lx-rows-grid", role: "grid", tabindex: 0, "aria-label": "Rows", "aria-multiselectable": "true" },
    space,
  );
  const detail = detailPane(link, () => grid.focus());
  const bar = rowBar(link, heads.ofRows, () => grid.focus());
  const coming = node("p", { class: "lx-quiet lx-rows-loading" }, waiting);
  const element = node("div", { class: "lx-rows lx-rows-coming" }, coming, bar.element, grid, detail.element);

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
      active = { row: 0, column: isOther ? 0 : active.column };
      first = 0;
      anchor = 0;
    }
    layOut();
    bar.show(about);
    draw();
    pages.fetch();
    heads.update(about);
  }

  function buildColumns() {
    sight.rowHeight = ROW_HEIGHT;
    widths.clear(about.columns);
    heads.build(about);
    body.clear(about.columns);
    bar.propose(about.columns);
  }

  /** Ascending, then descending, then as it was. */
  function sortBy(column: number, isAlso: boolean) {
    const { is_sortable, place } = about.columns[column];
    if (is_sortable) link.ask("sort", { sorts: nextSorts(about.sorts, place, isAlso) });
  }

  // --- place

  function layOut() {
    const { num_rows: numRows, columns } = about;
    const isTall = sight.rowHeight !== ROW_HEIGHT;
    const room = isTall ? Math.max(3, Math.round((height * ROW_HEIGHT) / sight.rowHeight)) : height;
    sight.inSight = Math.max(1, Math.min(room, numRows));
    grid.classList.toggle("lx-tall", isTall);
    space.style.height = `${HEAD_HEIGHT + allRowsHeight(sight)}px`;
    if (widths.isMeasured()) widths.apply(about.num_source_rows);
    const scrollBar = grid.offsetHeight - grid.clientHeight; // of horizontal scrolling, and borders
    grid.style.height = `${HEAD_HEIGHT + sight.inSight * sight.rowHeight + scrollBar}px`;
    grid.setAttribute("aria-rowcount", String(numRows + 1));
    grid.setAttribute("aria-colcount", String(columns.length));
    const isComing = !about.num_columns && !about.failure; // nobody has said yet which rows
    element.classList.toggle("lx-rows-coming", isComing);
    coming.hidden = !isComing;
    nothing.hidden = numRows > 0 && columns.length > 0;
    nothing.textContent = about.filter ? "No row matches the filter" : "No rows";
    body.setLines(numRows ? sight.inSight : 0);
    place();
  }

  /** Move the scroll bar to where `first` is. */
  function place() {
    first = within(sight, first);
    grid.scrollTop = scrollTopOf(sight, first);
    placedTop = grid.scrollTop;
  }

  function scrolled() {
    if (!about || Math.abs(grid.scrollTop - placedTop) < 1) return;
    placedTop = -1;
    moveTo(firstAt(sight, grid.scrollTop));
  }

  function moveTo(row: number) {
    if (row === first) return;
    first = row;
    draw();
    pages.fetch();
  }

  // Where the bar stands for more rows than it has pixels, the wheel still goes row by row.
  let wheeled = 0;
  function wheel(event: WheelEvent) {
    if (!about || !isCoarse(sight) || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
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
  }

  // --- rows

  function wanted() {
    if (!about?.num_rows) return null;
    const around = about.columns.some(({ kind }) => kind !== "plain") ? FEW_AROUND : AROUND;
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
    body.draw({ page: pages.page(), first, active, marked });
    const isHead = active.row < 0;
    heads.activate(isHead ? active.column : -1);
    const id = isHead ? heads.idOf(active.column) : body.idOf(active.row - first, active.column);
    grid.setAttribute("aria-activedescendant", id);
    grid.dataset.first = String(first);
  }

  // --- selecting

  function select(row: number, event: Pressed) {
    const isRange = event.shiftKey;
    if (!isRange) anchor = row;
    const how = event.ctrlKey || event.metaKey ? "toggle" : "only";
    link.ask("select", { row, anchor, how });
    if (!isRange && how === "only") onRow?.(row);
  }

  function selectAllOrNone(how: "all" | "none") {
    link.ask("select", { row: 0, anchor: 0, how });
  }

  function activate({ row, column }: Place) {
    active = {
      row: Math.max(-1, Math.min(row, about.num_rows - 1)),
      column: Math.max(0, Math.min(column, about.columns.length - 1)),
    };
    const top = active.row < 0 ? first : firstWith(sight, first, active.row);
    if (top !== first) {
      first = top;
      place();
      pages.fetch();
    }
    showColumn(active.column);
    draw();
    if (detail.isOpen()) openDetail();
  }

  function showColumn(column: number) {
    const [numbers, cell] = [heads.element.cells[0], heads.element.cells[column + 1]];
    const left = cell.offsetLeft - numbers.offsetWidth;
    if (left < grid.scrollLeft) grid.scrollLeft = left;
    const right = cell.offsetLeft + cell.offsetWidth - grid.clientWidth;
    if (right > grid.scrollLeft) grid.scrollLeft = right;
  }

  function openDetail() {
    const column = about.columns[active.column];
    if (active.row >= 0 && about.num_rows && column) detail.open(active.row, column.place);
  }

  function clicked(event: MouseEvent) {
    const at = body.placeOf(event);
    if (!at || at.row >= about.num_rows) return;
    activate(at);
    select(at.row, event);
    const isPlain = !(event.shiftKey || event.ctrlKey || event.metaKey);
    if (isPlain && !body.isWhole(event)) openDetail();
  }

  // --- keys

  function pressed(event: KeyboardEvent) {
    if (!about || event.altKey) return;
    const isCommand = event.ctrlKey || event.metaKey;
    const extent = { inSight: sight.inSight, numRows: about.num_rows, numColumns: about.columns.length };
    const target = keyTarget(event.key, isCommand, active, extent);
    const action = isCommand ? commands[event.key] : actions[event.key];
    if (target) moveActive(target, event);
    else if (action) action(event);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const actions: Record<string, (event: KeyboardEvent) => unknown> = {
    Enter: (event) => (active.row < 0 ? sortBy(active.column, event.shiftKey) : openDetail()),
    " ": ({ shiftKey }) =>
      active.row < 0 ? sortBy(active.column, shiftKey) : select(active.row, { shiftKey, ctrlKey: !shiftKey }),
    Escape: () => (detail.isOpen() ? detail.close() : selectAllOrNone("none")),
    "/": () => bar.focus(),
  };
  const commands: Record<string, () => unknown> = { a: () => selectAllOrNone("all"), c: () => bar.copyCsv() };

  function moveActive(target: Place, { key, shiftKey }: KeyboardEvent) {
    const isStep = ["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(key);
    const isRange = shiftKey && isStep && target.row >= 0;
    const page = pages.page();
    if (isRange && page && !page.selected[active.row - page.first]) anchor = active.row;
    activate(target);
    if (isRange) select(active.row, { shiftKey: true });
  }

  grid.addEventListener("scroll", scrolled);
  grid.addEventListener("wheel", wheel, { passive: false });
  grid.addEventListener("keydown", pressed);
  body.element.addEventListener("click", clicked);
  body.element.addEventListener("mousedown", (event) => {
    if (event.detail > 1 || event.shiftKey) {
      event.preventDefault(); // selects no text
      grid.focus();
    }
  });
  body.element.addEventListener("dblclick", openDetail);
  link.on("rows", take);
  link.on("busy", ({ text }: { text: string | null }) => link.busy(text));
  link.on("selection", ({ num_selected }: { num_selected: number }) => {
    if (!about) return;
    about = { ...about, num_selected };
    bar.show(about);
    pages.fetch(true);
  });
  link.ask<RowsAbout>("rows").then((rows) => about || take(rows)); // what was told meanwhile is newer

  return {
    element,
    setHeight(rows: number) {
      height = rows;
      if (!about) return;
      layOut();
      draw();
      pages.fetch();
    },
    markRow(id: string | null) {
      if (marked === id) return;
      marked = id;
      if (about) draw();
    },
  };
}
