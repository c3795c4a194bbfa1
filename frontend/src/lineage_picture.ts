// The picture to move about in: which versions are in sight, what is pointed at, clicked and typed.

import type { Look } from "./canvas";
import { canvas, lookOf, onTheme } from "./canvas";
import { node, setAttributes } from "./elements";
import { isCommand } from "./keys";
import type { Commits } from "./lineage_axis";
import { AXIS, drawLineageCommits, drawLineageTags, drawLineageTicks } from "./lineage_axis";
import type { InLineage, LaneScale, Layout } from "./lineage_drawing";
import {
  drawLaneLabels,
  drawLanes,
  drawRewrites,
  drawRibbons,
  drawRowNames,
  drawRowPath,
  findInLineage,
  isRest,
  laneShape,
  placeRowNames,
} from "./lineage_drawing";
import { count, plural } from "./text";
import { tooltip } from "./tooltip";

const PICTURE = { side: 12, gap: 8, tallest: 540, lowest: 90, fewest: 3, flattest: 0.45, tagRows: 2 };

/**
 * The picture: `element`, `setCommits(commits, begin, end)`, `setLayout(layout)`,
 * `setVersion(version)`, `show(begin, end)`, `fit()`, `zoom(factor)`, `span()`, `close()`.
 * `onView()` is called when other versions are in sight, `onSelect(lane)` with a lane or null,
 * `onVersion(version)`; `describe(found)` gives what the tooltip says.
 */
export function lineagePicture(
  root: HTMLElement,
  {
    onView,
    onSelect,
    onVersion,
    describe,
  }: {
    onView: () => void;
    onSelect: (lane: string | null) => void;
    onVersion: (version: string) => void;
    describe: (found: InLineage, layout: Layout, commits: Commits) => Node[];
  },
) {
  let commits!: Commits;
  let layout!: Layout;
  let full = { x0: 0, x1: 1 };
  let view = full;
  let offset = 0;
  let version: string | null = null;
  let pointed: InLineage | null = null;
  let scale!: LaneScale;
  let drag: { x: number; y: number; isMoving: boolean } | null = null;
  const back = canvas(200, draw);
  const front = canvas(200, drawFront);
  const tip = tooltip(root);
  const element = node(
    "div",
    { class: "lx-lineage", tabindex: "0", role: "group", "aria-roledescription": "lineage picture" },
    back.element,
    front.element,
  );

  const tagRows = () => Math.min(PICTURE.tagRows, commits?.tags.length ?? 0);
  const head = () => 4 + tagRows() * AXIS.tag + AXIS.names + AXIS.marks + PICTURE.gap;
  const isWhole = () => view.x1 - view.x0 >= (full.x1 - full.x0) * (1 - 1e-9); // rounding may take a little

  function measure(width: number, height: number) {
    const room = height - head() - AXIS.foot;
    const ky = Math.max(Math.min(1, room / layout.height), PICTURE.flattest);
    offset = Math.min(Math.max(offset, 0), Math.max(0, layout.height - room / ky));
    const unit = (width - 2 * PICTURE.side) / (view.x1 - view.x0);
    const top = head();
    scale = {
      width,
      unit,
      ky,
      top,
      room,
      side: PICTURE.side,
      x: (v) => PICTURE.side + (v - view.x0) * unit,
      version: (x) => view.x0 + (x - PICTURE.side) / unit,
      y: (y: number) => top + (y - offset) * ky,
    };
    // What it takes to find a version and a height in the picture.
    element.dataset.scale = JSON.stringify({ left: PICTURE.side, x0: view.x0, unit, top, ky, offset });
  }

  function draw(context: CanvasRenderingContext2D, width: number, height: number) {
    if (!layout) return;
    measure(width, height);
    const look = lookOf(element);
    const bottom = height - AXIS.foot;
    drawLineageTags(context, commits, scale, tagRows(), bottom, look);
    drawLineageCommits(context, commits, scale, 4 + tagRows() * AXIS.tag, look);
    context.save();
    context.beginPath();
    context.rect(0, scale.top - 2, width, bottom - scale.top + 2);
    context.clip();
    if (layout.lanes.length) {
      drawRibbons(context, layout, scale);
      drawLanes(context, layout, scale, look);
      drawRewrites(context, layout, scale);
      const rowNames = placeRowNames(context, layout, scale, look);
      drawRowPath(context, layout, scale, look);
      drawLaneLabels(context, layout, scale, rowNames, look);
      drawRowNames(context, rowNames, look);
    } else drawNoLanes(context, scale, bottom, look);
    context.restore();
    drawLineageTicks(context, commits, scale, bottom, look);
    drawMoreBelow(context, look);
    Object.assign(element.dataset, {
      drawn: `${layout.begin}-${layout.end}`,
      lanes: String(layout.lanes.length),
      selected: layout.selected?.node ?? "",
      row: layout.row?.row_id ?? "",
    });
    front.redraw();
  }

  function drawNoLanes(context: CanvasRenderingContext2D, { width, top }: LaneScale, bottom: number, look: Look) {
    context.font = look.font;
    context.fillStyle = look.quiet;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText("No fragments: every version of the table is empty", width / 2, (top + bottom) / 2);
  }

  /** A thin bar at the right where lanes do not all fit. */
  function drawMoreBelow(context: CanvasRenderingContext2D, look: Look) {
    const seen = scale.room / (layout.height * scale.ky);
    if (seen >= 1) return;
    context.fillStyle = look.quiet;
    context.globalAlpha = 0.5;
    context.beginPath();
    context.roundRect(
      scale.width - 5,
      scale.top + (offset / layout.height) * scale.room,
      4,
      Math.max(20, seen * scale.room),
      2,
    );
    context.fill();
    context.globalAlpha = 1;
  }

  function drawFront(context: CanvasRenderingContext2D, width: number, height: number) {
    if (!scale || !layout) return;
    const look = lookOf(element);
    if (pointed?.what === "lane" && pointed.index < layout.lanes.length)
      outlineLane(context, pointed.index, look.ink, 1.5);
    const selected = layout.selected?.lane;
    if (selected !== null && selected !== undefined) outlineLane(context, selected, look.ink, 2);
    if (version !== null) drawCursor(context, width, height, look);
    element.dataset.version = String(version ?? "");
  }

  function outlineLane(context: CanvasRenderingContext2D, lane: number, color: string, width: number) {
    context.save();
    context.beginPath();
    context.rect(0, scale.top - 2, scale.width, scale.room + 2);
    context.clip();
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke(laneShape(layout, scale, lane));
    context.restore();
  }

  function drawCursor(context: CanvasRenderingContext2D, width: number, height: number, look: Look) {
    const x = scale.x(Number(version));
    if (x < 0 || x > width) return;
    const bottom = height - AXIS.foot;
    context.fillStyle = look.accent;
    context.globalAlpha = 0.75;
    context.fillRect(x - 0.75, head() - PICTURE.gap, 1.5, bottom - head() + PICTURE.gap);
    context.globalAlpha = 1;
    context.font = look.bold;
    const label = count(version ?? "?");
    const half = context.measureText(label).width / 2 + 6;
    const at = Math.min(Math.max(x, half), width - half);
    context.beginPath();
    context.roundRect(at - half, bottom + 3, 2 * half, 17, 4);
    context.fill();
    context.fillStyle = look.paper;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(label, at, bottom + 12);
  }

  // --- which versions are in sight

  function setView(x0: number, x1: number) {
    const longest = full.x1 - full.x0;
    const span = Math.min(Math.max(x1 - x0, Math.min(PICTURE.fewest, longest)), longest);
    const middle = (x0 + x1) / 2;
    const start = Math.min(Math.max(middle - span / 2, full.x0), full.x1 - span);
    view = { x0: start, x1: start + span };
    back.redraw();
    onView();
  }

  function zoomAt(factor: number, x: number) {
    const center = scale.version(x);
    setView(center - (center - view.x0) / factor, center + (view.x1 - center) / factor);
  }

  function moveBy(versions: number, pixels = 0) {
    offset += pixels / scale.ky;
    setView(view.x0 + versions, view.x1 + versions);
  }

  // --- pointer

  const place = (event: MouseEvent): [number, number] => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  /** What is at a place: a lane, ribbon, event or rewrite; or the commit above or below them. */
  function find(x: number, y: number): InLineage | null {
    if (!scale || !layout) return null;
    if (y >= scale.top && y <= scale.top + scale.room) return findInLineage(layout, scale, x, y);
    const p = commits.nearest(scale.version(x));
    return p < 0 || Math.abs(scale.x(commits.versions[p]) - x) > Math.max(8, scale.unit / 2)
      ? null
      : { what: "commit", index: p };
  }

  function point(event: PointerEvent) {
    const found = find(...place(event));
    const changed = found?.what !== pointed?.what || found?.index !== pointed?.index;
    pointed = found;
    element.style.setProperty("cursor", found ? "pointer" : "grab");
    if (found) tip.show(event, ...describe(found, layout, commits));
    else tip.hide();
    if (changed) front.redraw();
  }

  function click(event: PointerEvent) {
    const found = find(...place(event));
    if (found?.what === "lane") {
      const isSame = layout.selected?.lane === found.index;
      onSelect(isSame || isRest(layout.lanes[found.index]) ? null : layout.lanes[found.index].node);
    } else if (found?.what === "commit" && found.index >= commits.numInherited)
      onVersion(String(commits.versions[found.index]));
    else if (found?.what === "event") onVersion(String(found.mark.version));
    else if (!found && layout.selected) onSelect(null);
  }

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !scale) return;
    drag = { x: event.clientX, y: event.clientY, isMoving: false };
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    if (!drag) {
      point(event);
      return;
    }
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.isMoving && Math.hypot(dx, dy) < 4) return;
    drag = { x: event.clientX, y: event.clientY, isMoving: true };
    tip.hide();
    element.style.setProperty("cursor", "grabbing");
    moveBy(-dx / scale.unit, -dy);
  });
  element.addEventListener("pointerup", (event) => {
    if (drag && !drag.isMoving) click(event);
    drag = null;
  });
  element.addEventListener("pointercancel", () => {
    drag = null;
  });
  element.addEventListener("pointerleave", () => {
    tip.hide();
    pointed = null;
    front.redraw();
  });
  element.addEventListener(
    "wheel",
    (event) => {
      if (!scale || !(event.ctrlKey || element.contains(document.activeElement))) return;
      const isOut = event.deltaY > 0 && isWhole();
      if (isOut && !event.ctrlKey && !event.deltaX) return; // the page goes on
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
        moveBy((event.deltaX || event.deltaY) / scale.unit);
      else zoomAt(Math.exp(-event.deltaY * 0.0022), place(event)[0]);
    },
    { passive: false },
  );
  element.addEventListener("dblclick", (event) => {
    if (scale && find(...place(event))?.what !== "lane") zoomAt(2, place(event)[0]);
  });

  // --- keyboard

  function stepVersion(direction: number) {
    const now = version === null ? commits.count - 1 : commits.nearest(Number(version));
    const next = Math.min(Math.max(now + direction, commits.numInherited), commits.count - 1);
    if (next < commits.numInherited) return;
    const target = commits.versions[next];
    if (target < view.x0 || target > view.x1) moveBy(target - (view.x0 + view.x1) / 2);
    onVersion(String(target));
  }

  /** Select the next lane up or down among those that the version cursor crosses. */
  function stepLane(direction: number) {
    const at = version === null ? view.x1 : Number(version);
    const crossed = layout.lanes
      .map((_, i) => i)
      .filter((i) => !isRest(layout.lanes[i]) && layout.lane_x0[i] <= at && layout.lane_x1[i] >= at)
      .sort((a, b) => layout.lane_y[a] - layout.lane_y[b]);
    if (!crossed.length) return;
    const now = crossed.indexOf(layout.selected?.lane ?? -1);
    const next =
      now < 0 ? (direction > 0 ? 0 : crossed.length - 1) : Math.min(Math.max(now + direction, 0), crossed.length - 1);
    onSelect(layout.lanes[crossed[next]].node);
  }

  const KEYS: Record<string, () => void> = {
    ArrowLeft: () => moveBy(-(view.x1 - view.x0) / 8),
    ArrowRight: () => moveBy((view.x1 - view.x0) / 8),
    ArrowUp: () => moveBy(0, -40),
    ArrowDown: () => moveBy(0, 40),
    "Shift+ArrowLeft": () => stepVersion(-1),
    "Shift+ArrowRight": () => stepVersion(1),
    "Shift+ArrowUp": () => stepLane(-1),
    "Shift+ArrowDown": () => stepLane(1),
    PageUp: () => moveBy(-(view.x1 - view.x0) * 0.8),
    PageDown: () => moveBy((view.x1 - view.x0) * 0.8),
    Home: () => moveBy(full.x0 - view.x0),
    End: () => moveBy(full.x1 - view.x1),
    "+": () => zoomAt(1.5, scale.width / 2),
    "=": () => zoomAt(1.5, scale.width / 2),
    "-": () => zoomAt(1 / 1.5, scale.width / 2),
    0: () => setView(full.x0, full.x1),
    Escape: () => onSelect(null),
  };
  element.addEventListener("keydown", (event) => {
    if (isCommand(event) || !scale || event.target !== element) return;
    const isArrow = event.key.startsWith("Arrow");
    const action = KEYS[event.shiftKey && isArrow ? `Shift+${event.key}` : event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    tip.hide();
    action();
  });
  const stopTheme = onTheme(() => back.redraw());

  return {
    element,
    isWhole,
    setCommits(newest: Commits, begin: number, end: number) {
      const stays = layout && isWhole() === false;
      commits = newest;
      full = { x0: begin - 0.4, x1: end + 0.4 };
      view = stays ? view : full;
    },
    setLayout(newest: Layout) {
      const isFirst = !layout;
      layout = newest;
      pointed = null;
      if (isFirst || isWhole()) setHeight();
      setAttributes(element, {
        "aria-label": `Lineage of ${plural(layout.num_fragments, "fragment")}, versions ${count(layout.begin)} to ${count(layout.end)}. Arrow keys move, plus and minus zoom, 0 shows everything; with Shift they move the version and select a fragment.`,
      });
      back.redraw();
    },
    setVersion(newest: string | null) {
      version = newest;
      front.redraw();
    },
    /** The versions in sight, whole ones. */
    span: () => [Math.max(Math.ceil(view.x0), Math.ceil(full.x0)), Math.min(Math.floor(view.x1), Math.floor(full.x1))],
    show: (begin: number, end: number) => setView(begin - 0.4, end + 0.4),
    fit: () => setView(full.x0, full.x1),
    zoom: (factor: number) => scale && zoomAt(factor, scale.width / 2),
    close() {
      stopTheme();
      back.close();
      front.close();
    },
  };

  function setHeight() {
    const tall = Math.min(Math.max(layout.height, PICTURE.lowest), PICTURE.tallest) + head() + AXIS.foot + 4;
    element.style.height = `${tall}px`;
    for (const layer of [back, front]) layer.element.style.height = `${tall}px`;
  }
}
