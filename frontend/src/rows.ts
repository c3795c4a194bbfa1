// The table of a RowsView (rows_view.py): only the rows in sight, and some around them, are here.

import "./rows.css";
import { contextOf } from "./canvas";
import { fillCell } from "./cells";
import { toClipboard } from "./clipboard";
import { headPicture, headWords, rowsOfHeads } from "./column_heads";
import { columnPicker } from "./column_picker";
import { fill, node } from "./elements";
import type { Link } from "./link";
import type { AllColumns, ColumnHeads, CopiedRows, RowsAbout, RowsPage } from "./messages";
import { count, cut, plural, visible } from "./text";
import { tooltip } from "./tooltip";
import { detailPane } from "./value_detail";

/** A page that is on its way. */
interface AskedPage {
  at: number;
  first: number;
  last: number;
  isFailed?: boolean;
}

type Pressed = Partial<Pick<MouseEvent, "shiftKey" | "ctrlKey" | "metaKey">>;

const [ROW_HEIGHT, TALL_ROW_HEIGHT] = [24, 56]; // px; rows with pictures are tall

const HEAD_HEIGHT = 86;

const TALLEST = 8e6; // px; browsers clip what is taller

const [AROUND, FEW_AROUND] = [40, 6]; // rows asked for above and below those in sight; few of large values

const PATIENCE = 400; // ms, after which another page may be asked for before one has come

const [NARROWEST, WIDEST, GUTTER] = [56, 320, 20]; // px, of columns

const ROOM_FOR_VALUES = 90; // px, of a column whose head names values

const PIECE_WIDTH = 96; // px, of a picture or a line beside text

const TYPING_PAUSE = 300; // ms

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
  let page: RowsPage | null = null; // rows that are here
  let asked: AskedPage | null = null; // the page that is on its way
  let inSight = 1;
  let first = 0; // the row on top
  let placedTop = -1; // where we scrolled to ourselves
  let active = { row: 0, column: 0 }; // row -1 is the head
  let anchor = 0; // where a range that is selected begins
  let widths: number[] = [];
  let rowHeight = ROW_HEIGHT;
  let marked: string | null = null; // the ID of a row

  // --- elements

  const filter = node("input", {
    class: "lx-input lx-filter",
    type: "search",
    spellcheck: "false",
    "aria-label": "Filter rows by text or an SQL expression",
  });
  const status = node("span", { class: "lx-rows-status", role: "status" });
  const ofHeads = node("span", { class: "lx-quiet" });
  const copy = node(
    "button",
    {
      class: "lx-button",
      onclick: copyCsv,
      title: "Copy the selected rows, or all of them, with the columns that are shown (Ctrl+C)",
    },
    "Copy as CSV",
  );
  const picker = columnPicker({
    ask: () => link.ask<AllColumns>("columns"),
    onShow: (places) => link.ask("show_columns", { places }),
  });
  const tip = tooltip(link.root);
  const columns = node("colgroup");
  const head = node("tr", { role: "row", "aria-rowindex": 1 });
  const body = node("tbody");
  const table = node("table", { role: "presentation" }, columns, node("thead", {}, head), body);
  const nothing = node("div", { class: "lx-rows-nothing", hidden: true });
  const pane = node("div", { class: "lx-rows-pane" }, table, nothing);
  const space = node("div", { class: "lx-rows-space" }, pane);
  const grid = node(
    "div",
    { class: "lx-rows-grid", role: "grid", tabindex: 0, "aria-label": "Rows", "aria-multiselectable": "true" },
    space,
  );
  const detail = detailPane(link, () => grid.focus());
  for (const control of [filter, copy, picker.button]) link.needsPython(control);
  const bar = node("div", { class: "lx-bar" }, filter, status, ofHeads, picker.element, copy);
  const coming = node("p", { class: "lx-quiet lx-rows-loading" }, waiting);
  const element = node("div", { class: "lx-rows lx-rows-coming" }, coming, bar, grid, detail.element);

  // --- what is known about the rows

  function take(description: RowsAbout) {
    link.busy(null);
    const differs = (name: keyof RowsAbout) => JSON.stringify(about?.[name]) !== JSON.stringify(description[name]);
    const isOther = differs("columns");
    const keepsPlace = !(["columns", "num_rows", "filter", "sorts"] as const).some(differs);
    about = description;
    page = null;
    asked = null;
    if (isOther) {
      widths = [];
      rowHeight = ROW_HEIGHT;
      buildHead();
    }
    head.classList.add("lx-old-heads"); // until those of these rows are here
    filter.hidden = !about.can_arrange;
    picker.label(about.columns.length, about.num_columns);
    if (!keepsPlace) {
      active = { row: 0, column: isOther ? 0 : active.column };
      first = 0;
      anchor = 0;
    }
    markSorts();
    layOut();
    showStatus();
    draw();
    fetchPage();
    askHeads();
  }

  // --- heads

  let askedHeads = 0;
  async function askHeads() {
    askedHeads += 1;
    const mine = askedHeads;
    if (!about.columns.length || !about.num_rows) {
      showHeads(null);
      return;
    }
    const got = await link.ask<ColumnHeads>("heads", {}, () => {}); // the rows tell what fails
    if (mine === askedHeads && got.heads.length === about.columns.length) showHeads(got);
  }

  function showHeads(got: ColumnHeads | null) {
    head.classList.remove("lx-old-heads");
    about.columns.forEach((_, i) => {
      const cell = head.cells[i + 1];
      const place = cell.querySelector(".lx-rows-spread");
      if (!place) return;
      fill(place, ...(got ? [headPicture(got.heads[i], got, tip)] : []));
      cell.setAttribute("aria-description", got ? headWords(got.heads[i], got).join("; ") : "");
    });
    ofHeads.textContent = got && got.num_rows < got.num_total ? `heads: ${rowsOfHeads(got)}` : "";
  }

  function showStatus(told: string | null = null) {
    const { num_rows, num_source_rows, num_selected, failure, is_expression } = about;
    const shown =
      num_rows === num_source_rows && !about.filter
        ? plural(num_rows, "row")
        : `${count(num_rows)} of ${plural(num_source_rows, "row")} ${is_expression ? "match" : about.filter ? "with this text" : ""}`;
    const parts = [shown.trim()];
    if (num_selected) parts.push(`${count(num_selected)} selected`);
    const text = told ?? failure?.message ?? parts.join(" · ");
    status.textContent = cut(text, 300);
    status.title = text === failure?.message ? visible(failure.message) : "";
    status.classList.toggle("lx-failed", text === failure?.message);
    filter.setAttribute("aria-invalid", String(Boolean(failure)));
  }

  // --- head and columns

  function buildHead() {
    const example = about.columns.find((column) => column.is_number && /^\w{1,14}$/.test(column.name));
    filter.placeholder = link.offline
      ? "Filters need Python"
      : example
        ? `Filter: text, or ${example.name} > 3`
        : "Filter: text, or an expression";
    fill(head, node("th", { class: "lx-rows-number", "aria-label": "Position" }));
    about.columns.forEach((column, i) => {
      const how = link.offline
        ? ""
        : column.is_sortable
          ? "\nClick to sort, with Shift to sort by this as well"
          : about.can_arrange
            ? "\nThese values have no order"
            : "";
      const title = `${cut(column.name, 500)}\n${cut(column.dtype, 500)}${how}`;
      const label = node("span", { class: "lx-rows-name", title }, cut(column.name, 80));
      const dtype = node("span", { class: "lx-rows-dtype", title }, cut(column.dtype, 60));
      const grip = node("span", {
        class: "lx-rows-grip",
        onpointerdown: (event) => resize(event, i),
        ondblclick: () => fitColumn(i),
        title: "Drag to resize, double-click to fit",
      });
      const cell = node(
        "th",
        {
          id: `${prefix}-h-${i}`,
          role: "columnheader",
          class: column.is_number ? "lx-number" : null,
          "aria-colindex": i + 1,
          onclick: (event) => {
            if (event.target !== grip) sortBy(i, event.shiftKey);
          },
        },
        label,
        dtype,
        node("div", { class: "lx-rows-spread" }),
        grip,
      );
      cell.classList.toggle("lx-sortable", column.is_sortable);
      head.append(cell);
    });
    fill(columns, ...[null, ...about.columns].map(() => node("col")));
    fill(body);
  }

  function markSorts() {
    about.columns.forEach((_, i) => {
      const at = about.sorts.findIndex(([place]) => place === about.columns[i].place);
      const cell = head.cells[i + 1];
      const descending = about.sorts[at]?.[1];
      cell.setAttribute("aria-sort", at < 0 ? "none" : descending ? "descending" : "ascending");
      cell.dataset.order = at < 0 || about.sorts.length < 2 ? "" : String(at + 1);
    });
  }

  /** Ascending, then descending, then as it was. */
  function sortBy(column: number, isAlso: boolean) {
    const { is_sortable, place } = about.columns[column];
    if (!is_sortable) return;
    const at = about.sorts.findIndex(([other]) => other === place);
    const next: [number, boolean][] = at < 0 ? [[place, false]] : about.sorts[at][1] ? [] : [[place, true]];
    const others = isAlso ? about.sorts.slice() : [];
    if (isAlso && at >= 0) others.splice(at, 1, ...next);
    else others.push(...next);
    link.ask("sort", { sorts: others });
  }

  function measure() {
    const context = contextOf(document.createElement("canvas"));
    const style = getComputedStyle(body.querySelector("td") ?? table);
    const width = (text: string, font: string) => {
      context.font = font;
      return context.measureText(text).width;
    };
    const cellFont = `${style.fontSize} ${style.fontFamily}`;
    const headFont = `600 13px ${getComputedStyle(head).fontFamily}`;
    return about.columns.map((column, i) => {
      const cells = page ? Math.max(0, ...page.cells[i].map((text, at) => widthOf(text, i, at, width, cellFont))) : 0;
      const heads = Math.max(
        width(visible(column.name).slice(0, 60), headFont) + 14,
        width(column.dtype.slice(0, 24), `11px ${style.fontFamily}`),
      );
      const least = column.kind === "plain" && !column.is_number ? ROOM_FOR_VALUES : NARROWEST;
      return Math.ceil(Math.min(WIDEST, Math.max(least, cells, heads) + GUTTER) + 1);
    });
  }

  function widthOf(
    text: string | null,
    column: number,
    row: number,
    width: (text: string, font: string) => number,
    font: string,
  ) {
    const piece = page?.pieces[column]?.[row];
    const earlier = page?.earlier[column]?.[row];
    const isChanged = page?.marks[column]?.[row] === "changed" && page.earlier[column];
    const shown = piece && piece.kind !== "line" ? piece.words : visible(text ?? "null").slice(0, 60);
    const before = isChanged ? `${visible(earlier ?? "null").slice(0, 60)} → ` : "";
    return width(before + shown, font) + (piece ? PIECE_WIDTH : 0);
  }

  function setWidths() {
    const digits = String(about.num_source_rows).length;
    const all = [Math.max(40, 9 * digits + 16), ...widths];
    for (const [i, width] of all.entries()) (columns.children[i] as HTMLElement).style.width = `${width}px`;
    table.style.width = `${all.reduce((sum, width) => sum + width, 0)}px`;
  }

  function fitColumn(column: number) {
    widths[column] = measure()[column];
    setWidths();
  }

  function resize(event: PointerEvent, column: number) {
    event.preventDefault();
    const grip = event.target as HTMLElement;
    const [start, width] = [event.clientX, widths[column]];
    grip.setPointerCapture(event.pointerId);
    grip.onpointermove = (moved) => {
      widths[column] = Math.max(NARROWEST, width + moved.clientX - start);
      setWidths();
    };
    grip.onpointerup = () => {
      grip.onpointermove = null;
      grip.onpointerup = null;
      layOut();
    };
  }

  // --- place

  function layOut() {
    const room = rowHeight === ROW_HEIGHT ? height : Math.max(3, Math.round((height * ROW_HEIGHT) / rowHeight));
    inSight = Math.max(1, Math.min(room, about.num_rows));
    grid.classList.toggle("lx-tall", rowHeight !== ROW_HEIGHT);
    space.style.height = `${HEAD_HEIGHT + Math.min(Math.max(1, about.num_rows) * rowHeight, TALLEST)}px`;
    if (widths.length) setWidths();
    const bar = grid.offsetHeight - grid.clientHeight; // of horizontal scrolling, and borders
    grid.style.height = `${HEAD_HEIGHT + inSight * rowHeight + bar}px`;
    grid.setAttribute("aria-rowcount", String(about.num_rows + 1));
    grid.setAttribute("aria-colcount", String(about.columns.length));
    const isComing = !about.num_columns && !about.failure; // nobody has said yet which rows
    element.classList.toggle("lx-rows-coming", isComing);
    coming.hidden = !isComing;
    nothing.hidden = about.num_rows > 0 && about.columns.length > 0;
    nothing.textContent = about.filter ? "No row matches the filter" : "No rows";
    setRows();
    place();
  }

  function lastFirst() {
    return Math.max(0, about.num_rows - inSight);
  }

  function reach() {
    return Math.min(about.num_rows * rowHeight, TALLEST) - inSight * rowHeight;
  }

  /** Move the scroll bar to where `first` is. */
  function place() {
    first = Math.max(0, Math.min(first, lastFirst()));
    grid.scrollTop = lastFirst() ? (first / lastFirst()) * reach() : 0;
    placedTop = grid.scrollTop;
  }

  function scrolled() {
    if (!about || Math.abs(grid.scrollTop - placedTop) < 1) return;
    placedTop = -1;
    const wanted = Math.round((grid.scrollTop / Math.max(1, reach())) * lastFirst());
    moveTo(Math.max(0, Math.min(wanted, lastFirst())));
  }

  function moveTo(row: number) {
    if (row === first) return;
    first = row;
    draw();
    fetchPage();
  }

  // Where the bar stands for more rows than it has pixels, the wheel still goes row by row.
  let wheeled = 0;
  function wheel(event: WheelEvent) {
    if (!about || about.num_rows * rowHeight <= TALLEST || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    wheeled += event.deltaY * (event.deltaMode === 1 ? rowHeight : 1);
    const rows = Math.trunc(wheeled / rowHeight);
    const wanted = Math.max(0, Math.min(first + rows, lastFirst()));
    if (rows && wanted === first) {
      wheeled = 0;
      return; // at the end the page may scroll
    }
    event.preventDefault();
    wheeled -= rows * rowHeight;
    moveTo(wanted);
    place();
  }

  // --- rows

  function setRows() {
    const wanted = about.num_rows ? inSight : 0;
    while (body.rows.length > wanted) body.deleteRow(-1);
    while (body.rows.length < wanted) {
      const i = body.rows.length;
      const cells = about.columns.map((column, j) =>
        node("td", {
          id: `${prefix}-${i}-${j}`,
          role: "gridcell",
          "aria-colindex": j + 1,
          class: column.is_number ? "lx-number" : null,
        }),
      );
      body.append(node("tr", { role: "row" }, node("th", { class: "lx-rows-number", scope: "row" }), ...cells));
    }
  }

  async function fetchPage(isForced = false) {
    if (!about?.num_rows) return;
    const [top, bottom] = [first, Math.min(first + inSight, about.num_rows)];
    const has = page && page.first <= top && page.first + page.positions.length >= bottom;
    if (has && !isForced) return;
    const now = performance.now();
    const isComing = asked && !asked.isFailed && asked.first <= top && asked.last >= bottom;
    if (asked && (isComing || now - asked.at < PATIENCE) && !isForced) return;
    const around = about.columns.some(({ kind }) => kind !== "plain") ? FEW_AROUND : AROUND;
    const from = Math.max(0, first - around);
    const wanted = { first: from, count: first - from + inSight + around };
    const mine: AskedPage = { at: now, first: from, last: from + wanted.count };
    asked = mine;
    setTimeout(() => {
      if (asked === mine && !mine.isFailed) fetchPage();
    }, PATIENCE);
    const got = await link.ask<RowsPage>("page", wanted, (failure, show) => {
      mine.isFailed = true; // until somebody tries again, or scrolls
      show(failure);
    });
    if (asked !== mine) return;
    asked = null;
    page = got;
    const isTall = page.pieces.some((pieces) => pieces?.some((piece) => piece?.kind === "image" && piece.data));
    if (isTall && rowHeight === ROW_HEIGHT) {
      rowHeight = TALL_ROW_HEIGHT;
      layOut();
    }
    if (!widths.length) {
      draw();
      widths = measure();
      layOut();
    }
    draw();
    fetchPage();
  }

  function draw() {
    for (const [i, line] of [...body.rows].entries()) drawRow(line, first + i);
    for (const [i, cell] of [...head.cells].entries()) {
      cell.classList.toggle("lx-active", active.row < 0 && i === active.column + 1);
    }
    const shown = active.row - first;
    const id = active.row < 0 ? `${prefix}-h-${active.column}` : `${prefix}-${shown}-${active.column}`;
    grid.setAttribute("aria-activedescendant", id);
    grid.dataset.first = String(first);
  }

  function drawRow(line: HTMLTableRowElement, row: number) {
    const at = page ? row - page.first : -1;
    const here = at >= 0 && at < (page?.positions.length ?? 0) ? page : null;
    line.setAttribute("aria-rowindex", String(row + 2));
    line.dataset.row = String(row);
    line.classList.toggle("lx-waiting", !here);
    line.setAttribute("aria-selected", String(here?.selected[at] ?? false));
    line.cells[0].textContent = here ? here.positions[at] : "";
    const ids = marked === null ? -1 : about.columns.findIndex(({ name }) => name === "_rowid");
    line.classList.toggle("lx-of-row", ids >= 0 && here?.cells[ids][at] === marked);
    for (let i = 0; i < about.columns.length; i += 1) {
      const cell = line.cells[i + 1];
      const text = here ? here.cells[i][at] : "";
      const mark = here?.marks[i]?.[at] ?? null;
      const piece = here?.pieces[i]?.[at] ?? null;
      const isMore = here?.more[i]?.[at] || piece || (text !== null && about.columns[i].kind === "nested");
      const kinds = [
        about.columns[i].is_number && "lx-number",
        text === null && "lx-null",
        isMore && "lx-more",
        piece && "lx-piece",
        mark && `lx-mark lx-mark-${mark}`,
        row === active.row && i === active.column && "lx-active",
      ];
      const kind = kinds.filter(Boolean).join(" ");
      if (cell.className !== kind) cell.className = kind;
      const earlier = mark === "changed" && here?.earlier[i] ? { earlier: here.earlier[i][at] } : {};
      fillCell(cell, { text, piece, ...earlier, isAbsent: mark === "absent" });
      if (cell.title) cell.title = "";
    }
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
      tip.show(event, node("img", { class: "lx-large", src: picture.src, alt: picture.alt }));
    else tip.hide();
  }

  // --- selecting

  function select(row: number, event: Pressed) {
    const isRange = event.shiftKey;
    if (!isRange) anchor = row;
    const how = event.ctrlKey || event.metaKey ? "toggle" : "only";
    link.ask("select", { row, anchor, how });
    if (!isRange && how === "only") onRow?.(row);
  }

  function activate(row: number, column: number) {
    active = {
      row: Math.max(-1, Math.min(row, about.num_rows - 1)),
      column: Math.max(0, Math.min(column, about.columns.length - 1)),
    };
    if (active.row >= 0 && (active.row < first || active.row >= first + inSight)) {
      first = active.row < first ? active.row : active.row - inSight + 1;
      place();
      fetchPage();
    }
    showColumn(active.column);
    draw();
    if (detail.isOpen()) openDetail();
  }

  function showColumn(column: number) {
    const cell = head.cells[column + 1];
    const left = cell.offsetLeft - head.cells[0].offsetWidth;
    if (left < grid.scrollLeft) grid.scrollLeft = left;
    const right = cell.offsetLeft + cell.offsetWidth - grid.clientWidth;
    if (right > grid.scrollLeft) grid.scrollLeft = right;
  }

  function openDetail() {
    const column = about.columns[active.column];
    if (active.row >= 0 && about.num_rows && column) detail.open(active.row, column.place);
  }

  function placeOf(event: MouseEvent) {
    const cell = (event.target as Element).closest<HTMLTableCellElement>("td, th");
    const line = (event.target as Element).closest("tr");
    if (!cell || line?.dataset.row === undefined) return null;
    const row = Number(line.dataset.row);
    return row < about.num_rows ? { row, column: Math.max(0, cell.cellIndex - 1) } : null;
  }

  function clicked(event: MouseEvent) {
    const at = placeOf(event);
    if (!at) return;
    activate(at.row, at.column);
    select(at.row, event);
    const isPlain = !(event.shiftKey || event.ctrlKey || event.metaKey);
    const isWhole = !(event.target as Element).closest("td")?.classList.contains("lx-more");
    if (isPlain && !isWhole) openDetail();
  }

  // --- keys

  const moves: Record<string, (event: KeyboardEvent) => [number, number]> = {
    ArrowUp: () => [active.row - 1, active.column],
    ArrowDown: () => [active.row + 1, active.column],
    ArrowLeft: () => [active.row, active.column - 1],
    ArrowRight: () => [active.row, active.column + 1],
    PageUp: () => [Math.max(0, active.row - inSight), active.column],
    PageDown: () => [active.row + inSight, active.column],
    Home: (event) => (event.ctrlKey || event.metaKey ? [0, active.column] : [active.row, 0]),
    End: (event) =>
      event.ctrlKey || event.metaKey ? [about.num_rows - 1, active.column] : [active.row, about.columns.length - 1],
  };

  function pressed(event: KeyboardEvent) {
    if (!about || event.altKey) return;
    const isCommand = event.ctrlKey || event.metaKey;
    const does: Record<string, () => unknown> = {
      Enter: () => (active.row < 0 ? sortBy(active.column, event.shiftKey) : openDetail()),
      " ": () =>
        active.row < 0
          ? sortBy(active.column, event.shiftKey)
          : select(active.row, { shiftKey: event.shiftKey, ctrlKey: !event.shiftKey }),
      Escape: () => (detail.isOpen() ? detail.close() : link.ask("select", { row: 0, anchor: 0, how: "none" })),
      "/": () => filter.focus(),
    };
    const commands: Record<string, () => unknown> = {
      a: () => link.ask("select", { row: 0, anchor: 0, how: "all" }),
      c: () => copyCsv(),
    };
    const move = moves[event.key];
    const action = isCommand ? commands[event.key] : does[event.key];
    if (move) {
      const [row, column] = move(event);
      const isStep = ["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key);
      const isRange = event.shiftKey && isStep && row >= 0;
      if (isRange && page && !page.selected[active.row - page.first]) anchor = active.row;
      activate(row, column);
      if (isRange) select(active.row, { shiftKey: true });
    } else if (action) action();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // --- filter, copy

  let typing = 0;
  function filterNow() {
    clearTimeout(typing);
    if (link.state.filter !== filter.value) link.setState({ filter: filter.value });
  }

  async function copyCsv() {
    const got = await link.ask<CopiedRows>("csv");
    const isCopied = await toClipboard(got.text);
    const rows =
      got.num_rows === got.num_total
        ? plural(got.num_rows, "row")
        : `${count(got.num_rows)} of ${plural(got.num_total, "row")}`;
    showStatus(isCopied ? `Copied ${rows} as CSV` : "The browser did not allow copying; press the button again");
  }

  filter.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(filterNow, TYPING_PAUSE);
  });
  filter.addEventListener("keydown", (event) => {
    if (event.key === "Enter") filterNow();
    else if (event.key === "ArrowDown") grid.focus();
    else return;
    event.preventDefault();
  });
  grid.addEventListener("scroll", scrolled);
  grid.addEventListener("wheel", wheel, { passive: false });
  grid.addEventListener("keydown", pressed);
  body.addEventListener("click", clicked);
  body.addEventListener("mousedown", (event) => {
    if (event.detail > 1 || event.shiftKey) {
      event.preventDefault(); // selects no text
      grid.focus();
    }
  });
  body.addEventListener("dblclick", openDetail);
  body.addEventListener("mouseover", explain);
  body.addEventListener("mousemove", enlarge);
  body.addEventListener("mouseleave", () => tip.hide());
  link.on("rows", take);
  link.on("busy", ({ text }: { text: string | null }) => link.busy(text));
  link.on("selection", ({ num_selected }: { num_selected: number }) => {
    if (!about) return;
    about = { ...about, num_selected };
    showStatus();
    fetchPage(true);
  });
  link.onState((state) => {
    if (document.activeElement !== filter) filter.value = state.filter;
  });
  link.ask<RowsAbout>("rows").then((rows) => about || take(rows)); // what was told meanwhile is newer

  return {
    element,
    setHeight(rows: number) {
      height = rows;
      if (!about) return;
      layOut();
      draw();
      fetchPage();
    },
    markRow(id: string | null) {
      if (marked === id) return;
      marked = id;
      if (about) draw();
    },
  };
}
