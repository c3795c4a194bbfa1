// Versions from left to right: where they stand, their rows, commits, gaps and tags.

import { bisectCenter } from "d3-array";
import { canvasFont, shortened, themeColor } from "./canvas";
import { commitBars } from "./commit_bars";
import type { History } from "./history";
import { kindColor } from "./legend";
import { count, plural, visible } from "./text";
import { timeWithin } from "./time_axis";

/** Where versions stand in a picture, in px from its left. */
export interface VersionScale {
  unit: number;
  gap: number;
  left: Float64Array;
  center: (position: number) => number;
  positionAt: (place: number) => number;
}

export const STRIP = {
  side: 10,
  tags: 20,
  chart: 54,
  commits: 18,
  axis: 20,
  widestGap: 12,
  narrowestBar: 3,
  pale: 0.4,
};

/** How far apart times are written, in px. */
const DATE_APART = 130;

/** Where each kept version stands, from left to right; a gap of versions has a place of its own. */
export function stripScale(history: { count: number; gapBefore: boolean[] }, width: number) {
  const { count: n, gapBefore } = history;
  const gaps = gapBefore.reduce((sum, gap) => sum + (gap ? 1 : 0), 0);
  const room = Math.max(1, width - 2 * STRIP.side);
  const gap = gaps ? Math.min(STRIP.widestGap, (0.25 * room) / gaps) : 0;
  const unit = (room - gap * gaps) / Math.max(1, n);
  const left = new Float64Array(n);
  let x = STRIP.side;
  for (let p = 0; p < n; p += 1) {
    if (gapBefore[p]) x += gap;
    left[p] = x;
    x += unit;
  }
  const center = (p: number) => left[p] + unit / 2;
  /** The version nearest to a place. */
  const positionAt = (place: number) => bisectCenter(left, place - unit / 2);
  return { unit, gap, left, center, positionAt };
}

/** The live rows as a line in steps over a soft area; nothing where they are not known. */
export function drawRows(
  context: CanvasRenderingContext2D,
  history: History,
  scale: VersionScale,
  top: number,
  chart = STRIP.chart,
) {
  const rows = history.num_rows;
  const highest = rows.reduce((most, value) => Math.max(value, most), 0);
  const bottom = top + chart - 4;
  const y = (value: number) => bottom - (highest ? (value / highest) * (chart - 10) : 0);
  const accent = themeColor(context.canvas, "accent");
  context.globalAlpha = 0.14;
  context.fillStyle = accent;
  context.fill(stepPath(history, scale, rows, y, bottom));
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.strokeStyle = accent;
  context.stroke(stepPath(history, scale, rows, y));
}

/**
 * A path in steps over versions, with nothing in gaps and where a value is not known; each part of it begins and
 * ends at a floor, if there is one.
 */
export function stepPath(
  { count, gapBefore }: History,
  { left, unit }: VersionScale,
  values: Float64Array,
  y: (value: number) => number,
  floor?: number,
) {
  const path = new Path2D();
  const isKnown = (p: number) => p >= 0 && p < count && !Number.isNaN(values[p]);
  const goesOn = (p: number) => isKnown(p - 1) && isKnown(p) && !gapBefore[p];
  for (let p = 0; p < count; p += 1) {
    if (!isKnown(p)) continue;
    const height = y(values[p]);
    if (!goesOn(p)) path.moveTo(left[p], floor ?? height);
    path.lineTo(left[p], height);
    path.lineTo(left[p] + unit, height);
    if (floor !== undefined && !goesOn(p + 1)) path.lineTo(left[p] + unit, floor);
  }
  return path;
}

/** A bar for each commit in the colour of its kind; for several, kinds stacked, where they are many. */
export function drawCommits(context: CanvasRenderingContext2D, history: History, scale: VersionScale, top: number) {
  const step = versionsPerBar(scale);
  const single = Math.min(14, scale.unit - Math.min(2, scale.unit / 4));
  const tall = STRIP.commits - 6;
  const parts = commitBars(
    0,
    history.count,
    (p) => Math.floor(p / step),
    (p) => history.kind[p],
    (p) => !history.is_recorded[p],
  );
  for (const { bin, kind, start, commits, total, isPale } of parts) {
    const [begin, end] = [bin * step, bin * step + total];
    const [left, right] =
      step === 1
        ? [scale.center(begin) - single / 2, scale.center(begin) + single / 2]
        : [Math.round(scale.left[begin]), Math.round(scale.left[end - 1] + scale.unit)];
    context.fillStyle = kindColor(history, kind);
    context.globalAlpha = isPale ? STRIP.pale : 1;
    context.fillRect(left, top + tall * (1 - (start + commits) / total), right - left, (tall * commits) / total);
  }
  context.globalAlpha = 1;
}

export function versionsPerBar(scale: VersionScale) {
  return scale.unit >= STRIP.narrowestBar ? 1 : Math.ceil(STRIP.narrowestBar / scale.unit);
}

export function drawGaps(
  context: CanvasRenderingContext2D,
  history: History,
  scale: VersionScale,
  top: number,
  tall: number,
) {
  context.strokeStyle = themeColor(context.canvas, "quiet");
  context.lineWidth = 1;
  context.setLineDash([2, 3]);
  for (let p = 0; p < history.count; p += 1) {
    if (!history.gapBefore[p]) continue;
    const x = Math.round(scale.left[p] - scale.gap / 2) + 0.5;
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, top + tall - 6);
    context.stroke();
  }
  context.setLineDash([]);
}

/** Tags as flags on their versions, with their names as far as there is room. */
export function drawTags(
  context: CanvasRenderingContext2D,
  history: History,
  scale: VersionScale,
  width: number,
  chart = STRIP.chart,
) {
  context.font = canvasFont(context.canvas);
  context.textAlign = "left";
  context.textBaseline = "middle";
  const sorted = [...history.tags].sort((a, b) => a.position - b.position);
  let free = 0;
  for (const [i, { name, position }] of sorted.entries()) {
    const x = scale.center(position);
    context.fillStyle = themeColor(context.canvas, "quiet");
    context.fillRect(x - 0.5, 4, 1, STRIP.tags + chart - 8);
    context.beginPath();
    context.moveTo(x, 3);
    context.lineTo(x + 7, 7);
    context.lineTo(x, 11);
    context.fill();
    const next = sorted[i + 1] ? scale.center(sorted[i + 1].position) - 4 : width;
    const label = shortened(context, visible(name.slice(0, 100)), next - x - 12);
    if (!label || x + 10 < free) continue;
    context.fillStyle = themeColor(context.canvas, "ink");
    context.fillText(label, x + 10, 8);
    free = x + 14 + context.measureText(label).width;
  }
}

/**
 * The first and the last version below the strip, for how many a bar stands, and between them when versions were
 * committed; nothing where one of the labels lies, each from left to right.
 */
export function drawEnds(
  context: CanvasRenderingContext2D,
  history: History,
  scale: VersionScale,
  width: number,
  baseline: number,
  labels: [number, number][],
) {
  context.font = canvasFont(context.canvas);
  context.fillStyle = themeColor(context.canvas, "quiet");
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  const step = versionsPerBar(scale);
  const notes = [];
  if (step > 1) notes.push(`each bar: ${plural(step, "version")}`);
  if (history.is_recorded.includes(1)) notes.push("pale: known from the ledger");
  if (history.gapBefore.includes(true)) notes.push("┊ versions not kept");
  const taken = [...labels];
  const wide = (text: string) => context.measureText(text).width;
  const write = (text: string, left: number, room = 2) => {
    const right = left + wide(text);
    if (!taken.every(([begin, end]) => end < left - room || begin > right + room)) return false;
    taken.push([left, right]);
    context.fillText(text, left, baseline);
    return true;
  };
  const first = count(history.versions[0]);
  write(first, STRIP.side);
  if (notes.length) write(`(${notes.join(", ")})`, STRIP.side + wide(first) + 10);
  if (history.count < 2) return;
  const last = count(history.versions[history.count - 1]);
  write(last, width - STRIP.side - wide(last));

  const { times } = history;
  const span = Math.abs(times[history.count - 1] - times[0]);
  let before: number | null = null;
  for (let x = STRIP.side + DATE_APART; x < width - STRIP.side - DATE_APART / 2; x += DATE_APART) {
    const at = scale.positionAt(x);
    if (Number.isNaN(times[at])) continue;
    const text = timeWithin(times[at], span, before);
    if (before !== null && timeWithin(times[at], span, null) === timeWithin(before, span, null)) continue;
    const center = scale.center(at);
    if (!write(text, center - wide(text) / 2, 8)) continue;
    context.fillRect(center - 0.5, baseline - 15, 1, 4);
    before = times[at];
  }
}

export const MARGIN = 66; // px, on the left

/** A line on a version from top to bottom, with its number in the axis. */
export function drawVersionCursor(
  context: CanvasRenderingContext2D,
  history: History,
  scale: VersionScale,
  position: number,
  tall: number,
  width: number,
) {
  const x = scale.center(position);
  const [top, bottom] = [history.tags.length ? STRIP.tags - 4 : 0, tall - STRIP.axis];
  const [accent, bold] = [themeColor(context.canvas, "accent"), canvasFont(context.canvas, 600)];
  context.fillStyle = accent;
  context.fillRect(x - 1, top, 2, bottom - top);
  const label = count(history.versions[position]);
  context.font = bold;
  const half = context.measureText(label).width / 2 + 7;
  const at = Math.min(Math.max(x, half), width - half);
  drawEnds(context, history, scale, width, tall - 5, [[at - half, at + half]]);
  context.fillStyle = accent;
  context.font = bold;
  context.beginPath();
  context.roundRect(at - half, bottom, 2 * half, STRIP.axis - 1, 4);
  context.fill();
  context.fillStyle = themeColor(context.canvas, "paper");
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(label, at, bottom + STRIP.axis / 2);
}

/** Write a label into the margin. */
export function marginLabel(context: CanvasRenderingContext2D, text: string, y: number, color: string, weight = 400) {
  context.font = canvasFont(context.canvas, weight);
  context.fillStyle = color;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText(text, -10, y);
}
