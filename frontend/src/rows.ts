// The table of a RowsView (rows_view.py): only the rows in sight, and some around them, are here.

import "./rows.css";
import { contextOf } from "./canvas";
import { toClipboard } from "./clipboard";
import { fill, node } from "./elements";
import type { Link } from "./link";
import type { CellDetail, CopiedRows, RowsAbout, RowsPage } from "./messages";
import { count, cut, plural, visible } from "./text";

/** A page that is on its way. */
interface AskedPage {
  at: number;
  first: number;
  last: number;
  isFailed?: boolean;
}

type Pressed = Partial<Pick<MouseEvent, "shiftKey" | "ctrlKey" | "metaKey">>;

const ROW_HEIGHT = 24;

const HEAD_HEIGHT = 42;

const TALLEST = 8e6; // px; browsers clip what is taller

const AROUND = 40; // rows asked for above and below those in sight

const PATIENCE = 400; // ms, after which another page may be asked for before one has come

const [NARROWEST, WIDEST, GUTTER] = [56, 320, 20]; // px, of columns

const TYPING_PAUSE = 300; // ms

/**
 * The table of a view's rows, with filter box and detail. `height` is the most rows in sight.
 * Gives: `element`, and `setHeight(rows)`. It follows the rows of the view by itself.
 */
export function rowTable(link: Link, height = 12) {
  const name = `lx${Math.random().toString(36).slice(2)}`;
  let about!: RowsAbout; // what Python says about the rows
  let page: RowsPage | null = null; // rows that are here
  let asked: AskedPage | null = null; // the page that is on its way
  let inSight = 1;
  let first = 0; // the row on top
  let placedTop = -1; // where we scrolled to ourselves
  let active = { row: 0, column: 0 }; // row -1 is the head
  let anchor = 0; // where a range that is selected begins
  let widths: number[] = [];

  // --- elements

  const filter = node("input", {
    class: "lx-input lx-filter",
    type: "search",
    spellcheck: "false",
    "aria-label": "Filter rows by text or an SQL expression",
  });
  const status = node("span", { class: "lx-rows-status", role: "status" });
  const copy = node(
    "button",
    { class: "lx-button", onclick: copyCsv, title: "Copy the selected rows, or all of them (Ctrl+C)" },
    "Copy as CSV",
  );
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
  const bar = node("div", { class: "lx-bar" }, filter, status, copy);
  const element = node("div", { class: "lx-rows" }, bar, grid, detail.element);

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
      buildHead();
    }
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
  }

  function showStatus(told: string | null = null) {
    const { num_rows, num_source_rows, num_columns, num_selected, failure, is_expression } = about;
    const shown =
      num_rows === num_source_rows && !about.filter
        ? plural(num_rows, "row")
        : `${count(num_rows)} of ${plural(num_source_rows, "row")} ${is_expression ? "match" : about.filter ? "with this text" : ""}`;
    const parts = [shown.trim()];
    if (num_columns > about.columns.length) parts.push(`${about.columns.length} of ${plural(num_columns, "column")}`);
    if (num_selected) parts.push(`${count(num_selected)} selected`);
    const text = told ?? failure?.message ?? parts.join(" · ");
    status.textContent = cut(text, 300);
    status.title = text === failure?.message ? visible(failure.message) : "";
    status.classList.toggle("lx-failed", text === failure?.message);
    filter.setAttribute("aria-invalid", String(Boolean(failure)));
  }

  // --- head and columns

  function buildHead() {
    const example = about.columns.find((column) => column.is_number && /^\w{1,24}$/.test(column.name));
    filter.placeholder = example ? `Filter: text, or ${example.name} > 3` : "Filter: text, or an expression";
    fill(head, node("th", { class: "lx-rows-number", "aria-label": "Position" }));
    about.columns.forEach((column, i) => {
      const label = node("span", { class: "lx-rows-name" }, cut(column.name, 80));
      const dtype = node("span", { class: "lx-rows-dtype" }, cut(column.dtype, 60));
      const grip = node("span", {
        class: "lx-rows-grip",
        onpointerdown: (event) => resize(event, i),
        ondblclick: () => fitColumn(i),
        title: "Drag to resize, double-click to fit",
      });
      const how = column.is_sortable
        ? "\nClick to sort, with Shift to sort by this as well"
        : "\nThese values have no order";
      const title = `${cut(column.name, 500)}\n${cut(column.dtype, 500)}${how}`;
      const cell = node(
        "th",
        {
          id: `${name}-h-${i}`,
          role: "columnheader",
          title,
          class: column.is_number ? "lx-number" : null,
          "aria-colindex": i + 1,
          onclick: (event) => {
            if (event.target !== grip) sortBy(i, event.shiftKey);
          },
        },
        label,
        dtype,
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
      const at = about.sorts.findIndex(([column]) => column === i);
      const cell = head.cells[i + 1];
      const descending = about.sorts[at]?.[1];
      cell.setAttribute("aria-sort", at < 0 ? "none" : descending ? "descending" : "ascending");
      cell.dataset.order = at < 0 || about.sorts.length < 2 ? "" : String(at + 1);
    });
  }

  /** Ascending, then descending, then as it was. */
  function sortBy(column: number, isAlso: boolean) {
    if (!about.columns[column].is_sortable) return;
    const at = about.sorts.findIndex(([other]) => other === column);
    const next: [number, boolean][] = at < 0 ? [[column, false]] : about.sorts[at][1] ? [] : [[column, true]];
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
      const texts = page ? page.cells[i] : [];
      const cells = texts.reduce(
        (most, text) => Math.max(most, width(visible(text ?? "null").slice(0, 60), cellFont)),
        0,
      );
      const heads = Math.max(
        width(visible(column.name).slice(0, 60), headFont) + 14,
        width(column.dtype.slice(0, 24), `11px ${style.fontFamily}`),
      );
      return Math.ceil(Math.min(WIDEST, Math.max(NARROWEST, cells, heads) + GUTTER) + 1);
    });
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
    inSight = Math.max(1, Math.min(height, about.num_rows));
    space.style.height = `${HEAD_HEIGHT + Math.min(Math.max(1, about.num_rows) * ROW_HEIGHT, TALLEST)}px`;
    if (widths.length) setWidths();
    const bar = grid.offsetHeight - grid.clientHeight; // of horizontal scrolling, and borders
    grid.style.height = `${HEAD_HEIGHT + inSight * ROW_HEIGHT + bar}px`;
    grid.setAttribute("aria-rowcount", String(about.num_rows + 1));
    grid.setAttribute("aria-colcount", String(about.columns.length));
    nothing.hidden = about.num_rows > 0 && about.columns.length > 0;
    nothing.textContent = about.filter ? "No row matches the filter" : "No rows";
    setRows();
    place();
  }

  function lastFirst() {
    return Math.max(0, about.num_rows - inSight);
  }

  function reach() {
    return Math.min(about.num_rows * ROW_HEIGHT, TALLEST) - inSight * ROW_HEIGHT;
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
    if (!about || about.num_rows * ROW_HEIGHT <= TALLEST || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    wheeled += event.deltaY * (event.deltaMode === 1 ? ROW_HEIGHT : 1);
    const rows = Math.trunc(wheeled / ROW_HEIGHT);
    const wanted = Math.max(0, Math.min(first + rows, lastFirst()));
    if (rows && wanted === first) {
      wheeled = 0;
      return; // at the end the page may scroll
    }
    event.preventDefault();
    wheeled -= rows * ROW_HEIGHT;
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
          id: `${name}-${i}-${j}`,
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
    const from = Math.max(0, first - AROUND);
    const wanted = { first: from, count: first - from + inSight + AROUND };
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
    const id = active.row < 0 ? `${name}-h-${active.column}` : `${name}-${shown}-${active.column}`;
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
    for (let i = 0; i < about.columns.length; i += 1) {
      const cell = line.cells[i + 1];
      const text = here ? here.cells[i][at] : "";
      const mark = here?.marks[i]?.[at] ?? null;
      const kinds = [
        about.columns[i].is_number && "lx-number",
        text === null && "lx-null",
        here?.more[i]?.[at] && "lx-more",
        mark && `lx-mark lx-mark-${mark}`,
        row === active.row && i === active.column && "lx-active",
      ];
      const kind = kinds.filter(Boolean).join(" ");
      if (cell.className !== kind) cell.className = kind;
      const shown = mark === "absent" ? "–" : text === null ? "null" : visible(text);
      if (cell.textContent !== shown) cell.textContent = shown;
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
      cell.title = `${cell.textContent}${isMore ? "\n\nDouble-click to see all of it" : ""}`;
  }

  // --- selecting

  function select(row: number, event: Pressed) {
    const isRange = event.shiftKey;
    if (!isRange) anchor = row;
    const how = event.ctrlKey || event.metaKey ? "toggle" : "only";
    link.ask("select", { row, anchor, how });
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
    if (active.row >= 0 && about.num_rows) detail.open(active.row, active.column);
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
  };
}

/** One value, whole, below the table. */
function detailPane(link: Link, onClose: () => void) {
  const title = node("strong");
  const facts = node("span", { class: "lx-quiet" });
  const text = node("pre", { tabindex: 0 });
  const copy = node("button", { class: "lx-button", onclick: () => toClipboard(value) }, "Copy");
  const element = node(
    "section",
    {
      class: "lx-detail",
      "aria-label": "The whole value",
      hidden: true,
      onkeydown: (event) => {
        if (event.key === "Escape") close();
      },
    },
    node(
      "div",
      { class: "lx-bar" },
      title,
      facts,
      copy,
      node("button", { class: "lx-button", onclick: close }, "Close"),
    ),
    text,
  );
  let value = "";
  function close() {
    element.hidden = true;
    onClose();
  }
  async function open(row: number, column: number) {
    const got = await link.ask<CellDetail>("detail", { row, column });
    value = got.text ?? "";
    title.textContent = cut(got.name, 100);
    const size =
      got.size === null
        ? ""
        : got.shown < got.size
          ? ` · ${count(got.shown)} of ${count(got.size)} ${got.unit}`
          : ` · ${count(got.size)} ${got.unit}`;
    facts.textContent = `${cut(got.dtype, 200)} · row ${count(got.position)}${size}`;
    fill(
      text,
      got.text === null ? node("span", { class: "lx-null" }, "null") : value.split("\n").map(visible).join("\n"),
    );
    element.hidden = false;
  }
  return { element, open, close, isOpen: () => !element.hidden };
}
