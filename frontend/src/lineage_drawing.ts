// Lanes, ribbons and the way of a row, as Python laid them out; y runs down, x in versions.

import { bisector } from "d3-array";
import type { Look } from "./canvas";
import { haloText, textOn } from "./canvas";
import { KIND_COLORS } from "./kinds";
import type { LineageScale } from "./lineage_axis";
import type { Lane, LineageLayout, RowEvent } from "./messages";

/** Lanes, ribbons and the way of a row, as Python laid them out. */
export interface Layout extends LineageLayout {
  stepsOf: number[][];
  related: Set<number> | null;
}

/** As LineageScale, with heights. */
export interface LaneScale extends LineageScale {
  ky: number;
  top: number;
  room: number;
  /** How much of the lanes is above what is in sight, in heights of the layout. */
  offset: number;
  y: (y: number) => number;
}

export interface RowMark {
  x: number;
  y: number;
  version: string;
  event: RowEvent;
  stay: number;
}

export interface RowName {
  text: string;
  x: number;
  y: number;
  half: number;
}

/** What was found at a place of the picture. */
export type InLineage =
  | { what: "event"; mark: RowMark; index?: undefined }
  | { what: "lane"; index: number; step: number }
  | { what: "rewrite" | "ribbon" | "commit"; index: number };

const LANES = { thinnest: 1.2, label: 15, inside: 13, dim: 0.13, rest: 0.45 };

const RIBBON_COLORS = { rewrite: "compact", update: "update", clone: "branch", restore: "restore" };

const ROW_LINES: [string, number][] = [
  ["#ffffff", 6],
  ["#16191d", 2.2],
];

/** Return what Python laid out, with the steps of each lane together. */
export function layoutOf(content: LineageLayout): Layout {
  const stepsOf: number[][] = content.lanes.map(() => []);
  for (const [i, lane] of content.step_lane.entries()) stepsOf[lane].push(i);
  return { ...content, stepsOf, related: content.selected && new Set(content.selected.lanes) };
}

export function isRest(lane: Lane) {
  return lane.node === "rest";
}

function laneColor(lane: Lane, look: Look) {
  return isRest(lane) ? look.quiet : (KIND_COLORS[lane.kind] ?? KIND_COLORS.other);
}

/** How strongly a lane is drawn: those that have nothing to do with the selected one are faint. */
function laneStrength(layout: Layout, lane: number) {
  const strength = isRest(layout.lanes[lane]) ? LANES.rest : 1;
  return layout.related && !layout.related.has(lane) ? strength * LANES.dim : strength;
}

export function drawLanes(context: CanvasRenderingContext2D, layout: Layout, scale: LaneScale, look: Look) {
  for (const [i, lane] of layout.lanes.entries()) {
    if (layout.lane_x1[i] < scale.version(0) || layout.lane_x0[i] > scale.version(scale.width)) continue;
    context.globalAlpha = laneStrength(layout, i);
    context.fillStyle = laneColor(lane, look);
    context.fill(laneShape(layout, scale, i));
  }
  context.globalAlpha = 1;
}

/** The outline of a lane: a straight upper edge, and a lower one in steps. */
export function laneShape(layout: Layout, scale: LaneScale, lane: number) {
  const shape = new Path2D();
  const top = scale.y(layout.lane_y[lane]);
  shape.moveTo(scale.x(layout.lane_x0[lane]), top);
  shape.lineTo(scale.x(layout.lane_x1[lane]), top);
  for (const step of layout.stepsOf[lane].toReversed()) {
    const bottom = top + Math.max(LANES.thinnest, layout.step_thickness[step] * scale.ky);
    shape.lineTo(scale.x(layout.step_x1[step]), bottom);
    shape.lineTo(scale.x(layout.step_x0[step]), bottom);
  }
  shape.closePath();
  return shape;
}

/** Mark where columns of a lane were written anew. */
export function drawRewrites(context: CanvasRenderingContext2D, layout: Layout, scale: LaneScale) {
  context.fillStyle = KIND_COLORS.schema;
  for (let i = 0; i < layout.rewrite_x.length; i += 1) {
    const tall = Math.max(2, layout.rewrite_thickness[i] * scale.ky);
    context.globalAlpha = layout.related ? 0.4 : 1;
    context.fillRect(scale.x(layout.rewrite_x[i]) - 1, scale.y(layout.rewrite_y[i]), 3, tall);
  }
  context.globalAlpha = 1;
}

function ribbonKind(layout: Layout, ribbon: number) {
  return layout.ribbon_kinds[layout.ribbon_kind[ribbon]];
}

/** Whether a ribbon leads between lanes that belong to the selected one. */
function isRelated(layout: Layout, ribbon: number) {
  return (
    !layout.related || (layout.related.has(layout.ribbon_from[ribbon]) && layout.related.has(layout.ribbon_to[ribbon]))
  );
}

export function drawRibbons(context: CanvasRenderingContext2D, layout: Layout, scale: LaneScale) {
  for (let i = 0; i < layout.ribbon_x0.length; i += 1) {
    if (layout.ribbon_x1[i] < scale.version(0) || layout.ribbon_x0[i] > scale.version(scale.width)) continue;
    drawRibbon(context, layout, scale, i, isRelated(layout, i) ? (layout.related ? 0.62 : 0.42) : 0.06);
  }
  context.globalAlpha = 1;
}

function drawRibbon(context: CanvasRenderingContext2D, layout: Layout, scale: LaneScale, i: number, strength: number) {
  const color = KIND_COLORS[RIBBON_COLORS[ribbonKind(layout, i)]];
  const [x0, x1] = [scale.x(layout.ribbon_x0[i]), scale.x(layout.ribbon_x1[i])];
  const [y0, y1] = [scale.y(layout.ribbon_y0[i]), scale.y(layout.ribbon_y1[i])];
  const [w0, w1] = [layout.ribbon_width0[i] * scale.ky, layout.ribbon_width1[i] * scale.ky];
  const shape = new Path2D();
  curveTo(shape, x0, y0, x1, y1, true);
  context.strokeStyle = color;
  if (ribbonKind(layout, i) === "restore") {
    context.globalAlpha = strength > 0.1 ? 0.9 : strength;
    context.lineWidth = 2;
    context.setLineDash([2, 4]);
    context.stroke(shape);
    context.setLineDash([]);
    return;
  }
  shape.lineTo(x1, y1 + w1);
  curveTo(shape, x1, y1 + w1, x0, y0 + w0, false);
  shape.closePath();
  context.globalAlpha = strength;
  context.fillStyle = color;
  context.fill(shape);
  context.globalAlpha = Math.min(1, strength * 1.6);
  context.lineWidth = 0.8;
  context.stroke(shape);
}

/** A curve that leaves and arrives level. */
function curveTo(shape: Path2D, x0: number, y0: number, x1: number, y1: number, begins: boolean) {
  if (begins) shape.moveTo(x0, y0);
  const third = (x1 - x0) / 3;
  shape.bezierCurveTo(x0 + third, y0, x1 - third, y1, x1, y1);
}

/** Name lanes where there is room: above each or inside of thick ones; names stay in sight, also on the way of a row. */
export function drawLaneLabels(
  context: CanvasRenderingContext2D,
  layout: Layout,
  scale: LaneScale,
  rowNames: RowName[],
  look: Look,
) {
  const taken = [...rowNames, ...rowMarks(layout, scale).map(({ x, y }) => ({ x, y, half: 7 }))];
  for (const [i, lane] of layout.lanes.entries()) {
    if (layout.lane_x1[i] < scale.version(0)) continue;
    const first = layout.stepsOf[i][0];
    const thick = layout.step_thickness[first] * scale.ky;
    const isAbove = layout.has_labels && scale.ky > 0.9;
    if (!isAbove && thick < LANES.inside) continue;
    const end = isAbove ? layout.lane_x0[i] + layout.lane_room[i] : layout.lane_x1[i];
    const left = Math.max(scale.x(layout.lane_x0[i]), 2);
    const room = Math.min(scale.x(end), scale.width) - left - 4;
    const isSelected = layout.selected?.lane === i;
    context.font = isSelected ? look.bold : look.font;
    const text = lane.names.find((words) => context.measureText(words).width <= room);
    const y = scale.y(layout.lane_y[i]) + (isAbove ? -3 : Math.min(thick / 2, 9));
    if (!text || touchesNames(taken, left, left + context.measureText(text).width, y - (isAbove ? 4 : 0))) continue;
    const isFaint = layout.related && !layout.related.has(i);
    context.globalAlpha = isFaint ? 0.25 : 1;
    context.fillStyle = isAbove || isFaint ? look.ink : isRest(lane) ? look.ink : textOn(laneColor(lane, look));
    context.textAlign = "left";
    context.textBaseline = isAbove ? "alphabetic" : "middle";
    if (isAbove && layout.row) haloText(context, text, left, y, look.ink, look.paper);
    else context.fillText(text, left + (isAbove ? 0 : 4), y);
  }
  context.globalAlpha = 1;
}

/** Draw the way of a row: a line through lanes, with a mark at each event; dotted while it was gone. */
export function drawRowPath(context: CanvasRenderingContext2D, layout: Layout, scale: LaneScale, look: Look) {
  const { row } = layout;
  if (!row?.stays.length) return;
  const marks = rowMarks(layout, scale);
  const ends = new Set(marks.filter(({ event }) => event.is_end).map(({ stay }) => stay));
  const [line, gone] = [new Path2D(), new Path2D()];
  for (const [i, [from, to, height]] of row.stays.entries()) {
    const [x0, x1, y] = [scale.x(from), scale.x(to), scale.y(height)];
    if (i) {
      const [, end, above] = row.stays[i - 1];
      curveTo(ends.has(i - 1) ? gone : line, scale.x(end), scale.y(above), x0, y, true);
    }
    line.moveTo(x0, y);
    line.lineTo(x1, y);
  }
  context.lineJoin = "round";
  context.lineCap = "round";
  for (const [color, width] of ROW_LINES) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke(line);
  }
  context.strokeStyle = look.ink;
  context.lineWidth = 2;
  context.setLineDash([1, 5]);
  context.stroke(gone);
  context.setLineDash([]);
  context.lineCap = "butt";
  for (const mark of marks) drawRowMark(context, mark);
}

/** Where the events of the row are: {x, y, version, event, stay}; an end is at the end of its stay. */
function rowMarks(layout: Layout, scale: LaneScale) {
  const { row } = layout;
  if (!row?.stays.length) return [];
  const stays = row.stays.map(([, , , version]) => version);
  const marks = [];
  for (const event of row.events) {
    const version = Number(event.version);
    if (version < layout.begin || version > layout.end) continue;
    const stay = event.is_end ? stays.findLastIndex((since) => since < version) : stays.indexOf(version);
    if (stay < 0) continue; // its fragment is in no version that is kept
    const [from, to, height] = row.stays[stay];
    marks.push({ x: scale.x(event.is_end ? to : from), y: scale.y(height), version: event.version, event, stay });
  }
  return marks;
}

function drawRowMark(context: CanvasRenderingContext2D, { x, y, event }: RowMark) {
  context.beginPath();
  if (event.is_end) context.roundRect(x - 5, y - 5, 10, 10, 2);
  else context.arc(x, y, 5.5, 0, 2 * Math.PI);
  context.fillStyle = KIND_COLORS[event.kind];
  context.fill();
  context.lineWidth = 3.5;
  context.strokeStyle = ROW_LINES[1][0];
  context.stroke();
  context.lineWidth = 1.8;
  context.strokeStyle = ROW_LINES[0][0];
  context.stroke();
}

/** Where the words for events have room, beside the marks: {text, x, y, half}. */
export function placeRowNames(context: CanvasRenderingContext2D, layout: Layout, scale: LaneScale, look: Look) {
  context.font = look.bold;
  const placed: RowName[] = [];
  for (const { x, y, event } of rowMarks(layout, scale)) {
    if (x < 0 || x > scale.width) continue;
    const half = context.measureText(event.event).width / 2 + 5;
    const at = Math.min(Math.max(x, half), scale.width - half);
    const isInSight = (height: number) => height > scale.top + 4 && height < scale.top + scale.room - 6;
    const place = [y + 17, y - 17].find(
      (height) => isInSight(height) && !touchesNames(placed, at - half, at + half, height),
    );
    if (place !== undefined) placed.push({ text: event.event, x: at, y: place, half });
  }
  return placed;
}

function touchesNames(names: Omit<RowName, "text">[], left: number, right: number, y: number) {
  return names.some((name) => left < name.x + name.half && right > name.x - name.half && Math.abs(name.y - y) < 15);
}

export function drawRowNames(context: CanvasRenderingContext2D, names: RowName[], look: Look) {
  context.font = look.bold;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const { text, x, y } of names) haloText(context, text, x, y, look.ink, look.paper);
}

/** What lies at a place in the picture: {what, index or mark}, or null. */
export function findInLineage(layout: Layout, scale: LaneScale, x: number, y: number): InLineage | null {
  const mark = rowMarks(layout, scale).findLast((one) => Math.hypot(one.x - x, one.y - y) < 9);
  if (mark) return { what: "event", mark };
  const version = scale.version(x);
  for (let i = 0; i < layout.rewrite_x.length; i += 1) {
    const [left, top] = [scale.x(layout.rewrite_x[i]), scale.y(layout.rewrite_y[i])];
    if (Math.abs(left - x) < 3 && y >= top && y <= top + layout.rewrite_thickness[i] * scale.ky)
      return { what: "rewrite", index: i };
  }
  for (let i = layout.lanes.length - 1; i >= 0; i -= 1) {
    if (version < layout.lane_x0[i] || version > layout.lane_x1[i]) continue;
    const step = stepAt(layout, i, version);
    const middle = scale.y(layout.lane_y[i]) + (layout.step_thickness[step] * scale.ky) / 2;
    if (Math.abs(y - middle) <= Math.max(4, (layout.step_thickness[step] * scale.ky) / 2))
      return { what: "lane", index: i, step };
  }
  for (let i = layout.ribbon_x0.length - 1; i >= 0; i -= 1) {
    const way = (version - layout.ribbon_x0[i]) / (layout.ribbon_x1[i] - layout.ribbon_x0[i]);
    if (way < 0 || way > 1 || Number.isNaN(way)) continue;
    const rise = way * way * (3 - 2 * way);
    const top = scale.y(layout.ribbon_y0[i] + (layout.ribbon_y1[i] - layout.ribbon_y0[i]) * rise);
    const wide = (layout.ribbon_width0[i] + (layout.ribbon_width1[i] - layout.ribbon_width0[i]) * rise) * scale.ky;
    if (y >= top - 3 && y <= top + wide + 3) return { what: "ribbon", index: i };
  }
  return null;
}

/** The step that a lane is in at a place. */
function stepAt({ stepsOf, step_x0 }: Layout, lane: number, version: number) {
  const next = bisector((step: number) => step_x0[step]).right(stepsOf[lane], version);
  return stepsOf[lane][Math.max(0, next - 1)];
}
