// Painting row-ID segments: each in the colour of its encoding, and beside them the bytes that they take.

import { contextOf, fitting, type Look } from "./canvas";
import type { SegmentMode, Segments } from "./messages";
import { rowOf } from "./segments";
import { count, plural, shortId } from "./text";
import { MARGIN, marginLabel } from "./version_axis";

export interface ShownSegments {
  segments: Segments;
  one: Segments | null;
  id: string | null;
  mode: SegmentMode;
  colors: Record<string, string>;
  version: string;
}

/** Where segments and bytes are, in px from the left. */
interface Columns {
  left: number;
  right: number;
  begin: number;
  end: number;
}

/** Rows of segments, the first at `y`, each `tall` px. */
interface Band {
  raster: Segments;
  y: number;
  tall: number;
}

export const SEGMENTS_HEAD = 20; // px

const SEGMENTS = { most: 420, row: 20, least: 3, one: 24, foot: 18, gap: 18, words: 140, border: 5 }; // px

/** How tall a row is, in px. */
export function rowTall(numRows: number) {
  return numRows ? Math.max(SEGMENTS.least, Math.min(SEGMENTS.row, Math.floor(SEGMENTS.most / numRows))) : 0;
}

/** How tall the picture is, in px. */
export function segmentsHeight(shown: ShownSegments | null) {
  if (!shown?.segments.rows.length) return 0;
  return oneTop(shown.segments) + (shown.one ? SEGMENTS.one + 20 : 0) + 2;
}

function oneTop({ rows }: Segments) {
  return SEGMENTS_HEAD + rowTall(rows.length) * rows.length + SEGMENTS.foot;
}

function columnsOf(width: number): Columns {
  const left = MARGIN;
  const words = width < 620 ? 0 : SEGMENTS.words;
  const sizes = Math.round((width - left - words) * 0.26);
  const right = width - words - sizes - SEGMENTS.gap;
  return { left, right, begin: right + SEGMENTS.gap, end: width - words };
}

/** Paint all fragments, and below them the chosen one. */
export function drawSegments(context: CanvasRenderingContext2D, shown: ShownSegments, width: number, look: Look) {
  const { segments, one, id, mode, colors } = shown;
  const at = columnsOf(width);
  const hasWords = width - at.end >= SEGMENTS.words;
  const all = { raster: segments, y: SEGMENTS_HEAD, tall: rowTall(segments.rows.length) };
  drawHeads(context, at, look, mode);
  drawRaster(context, all, colors, at, look);
  drawSizes(context, all, colors, at, look, hasWords);
  drawIds(context, all, id, at, look);
  drawFoot(context, all, at, look, mode);
  if (!one) return;
  const alone = { raster: one, y: oneTop(segments), tall: SEGMENTS.one };
  drawRaster(context, alone, colors, at, look);
  drawSizes(context, alone, colors, at, look, hasWords);
  marginAt(context, one.rows[0][0], alone.y + SEGMENTS.one / 2, look.accent, 600);
  drawFoot(context, alone, at, look, mode);
}

function marginAt(context: CanvasRenderingContext2D, id: string, y: number, color: string, weight: number) {
  context.save();
  context.translate(MARGIN, 0);
  marginLabel(context, shortId(id), y, color, weight);
  context.restore();
}

function drawHeads(context: CanvasRenderingContext2D, at: Columns, look: Look, mode: SegmentMode) {
  context.font = look.font;
  context.fillStyle = look.quiet;
  context.textBaseline = "alphabetic";
  context.textAlign = "right";
  context.fillText("fragment", at.left - 10, SEGMENTS_HEAD - 7);
  context.textAlign = "left";
  const texts =
    mode === "position"
      ? ["segments, by position in the sequence", "by position"]
      : ["segments, by the row IDs in them", "by row ID"];
  context.fillText(fitting(context, texts, at.right - at.left), at.left, SEGMENTS_HEAD - 7);
  context.fillText(
    fitting(context, ["bytes now, and ◆ at best", "bytes, ◆ best", "bytes"], at.end - at.begin),
    at.begin,
    SEGMENTS_HEAD - 7,
  );
}

function drawRaster(
  context: CanvasRenderingContext2D,
  { raster, y, tall }: Band,
  colors: Record<string, string>,
  at: Columns,
  look: Look,
) {
  const image = document.createElement("canvas");
  [image.width, image.height] = [raster.num_bins, raster.rows.length];
  contextOf(image).putImageData(segmentPixels(raster, colors), 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(image, at.left, y, at.right - at.left, tall * raster.rows.length);
  const bin = (at.right - at.left) / raster.num_bins;
  if (tall >= 6) drawBorders(context, { raster, y, tall }, at, bin, look);
  context.fillStyle = look.paper;
  if (tall >= 5)
    for (let row = 1; row < raster.rows.length; row += 1)
      context.fillRect(at.left, y + row * tall - 1, at.right - at.left, 1);
}

/** Part neighbouring segments, unless they are too narrow for it. */
function drawBorders(
  context: CanvasRenderingContext2D,
  { raster, y, tall }: Band,
  at: Columns,
  bin: number,
  look: Look,
) {
  context.fillStyle = look.paper;
  for (let row = 0; row < raster.rows.length; row += 1) {
    const begins: number[] = [];
    for (let b = 0; b < raster.num_bins; b += 1) if (raster.begins[row * raster.num_bins + b]) begins.push(b);
    begins.forEach((b, i) => {
      const narrower = Math.min(b - begins[i - 1], (begins[i + 1] ?? raster.num_bins) - b) * bin;
      if (narrower >= SEGMENTS.border) context.fillRect(at.left + Math.round(b * bin), y + row * tall, 1, tall - 1);
    });
  }
}

function drawSizes(
  context: CanvasRenderingContext2D,
  { raster, y, tall }: Band,
  colors: Record<string, string>,
  at: Columns,
  look: Look,
  hasWords: boolean,
) {
  const kinds = raster.kinds.length;
  const sums = raster.rows.map((_, row) =>
    raster.bytes.subarray(row * kinds, (row + 1) * kinds).reduce((sum, part) => sum + part, 0),
  );
  const largest = Math.max(...sums, ...raster.best.filter((best) => !Number.isNaN(best)), 1);
  const x = (size: number) => at.begin + (size / largest) * (at.end - at.begin - 6);
  raster.rows.forEach((_, row) => {
    const middle = y + row * tall + (tall - 1) / 2;
    const thick = Math.max(1, Math.min(12, tall - (tall >= 5 ? 2 : 0)));
    let size = 0;
    raster.kinds.forEach((kind, k) => {
      const part = raster.bytes[row * kinds + k];
      if (!part) return;
      context.fillStyle = colors[kind];
      context.fillRect(x(size), middle - thick / 2, Math.max(1, x(size + part) - x(size)), thick);
      size += part;
    });
    const best = raster.best[row];
    if (!Number.isNaN(best)) drawBest(context, x(best), middle, tall, look);
    if (hasWords && tall >= 11) {
      context.font = look.font;
      context.fillStyle = look.quiet;
      context.textAlign = "left";
      context.textBaseline = "middle";
      context.fillText(raster.row_sizes[row], at.end + 6, middle + 1);
    }
  });
}

function drawBest(context: CanvasRenderingContext2D, x: number, y: number, tall: number, look: Look) {
  context.fillStyle = look.ink;
  if (tall < 8) {
    context.fillRect(x - 0.75, y - tall / 2, 1.5, Math.max(2, tall));
    return;
  }
  context.beginPath();
  context.moveTo(x, y - 5);
  context.lineTo(x + 4, y);
  context.lineTo(x, y + 5);
  context.lineTo(x - 4, y);
  context.closePath();
  context.strokeStyle = look.paper;
  context.lineWidth = 2;
  context.stroke();
  context.fill();
}

function drawIds(
  context: CanvasRenderingContext2D,
  { raster, y, tall }: Band,
  id: string | null,
  at: Columns,
  look: Look,
) {
  const apart = Math.max(1, Math.ceil(13 / tall));
  const chosen = id === null ? -1 : rowOf(raster, id);
  for (let row = 0; row < raster.rows.length; row += apart) {
    if (row !== chosen) marginAt(context, raster.rows[row][0], y + (row + 0.5) * tall - 0.5, look.quiet, 400);
  }
  if (id === null || chosen < 0) return;
  const middle = y + (chosen + 0.5) * tall - 0.5;
  context.fillStyle = look.accent;
  context.beginPath();
  context.roundRect(4, middle - 8, MARGIN - 9, 16, 4);
  context.fill();
  marginAt(context, id, middle, look.paper, 600);
  context.strokeStyle = look.ink;
  context.lineWidth = 1.5;
  context.strokeRect(at.left - 1, y + chosen * tall - 1, at.end - at.left + 2, Math.max(tall, 4));
}

function drawFoot(
  context: CanvasRenderingContext2D,
  { raster, y, tall }: Band,
  at: Columns,
  look: Look,
  mode: SegmentMode,
) {
  const below = y + tall * raster.rows.length + 12;
  context.font = look.font;
  context.fillStyle = look.quiet;
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  const last = BigInt(raster.end) > 0n ? String(BigInt(raster.end) - (mode === "row_id" ? 1n : 0n)) : "0";
  context.fillText(mode === "row_id" ? `row ID ${count(raster.begin)}` : "0", at.left, below);
  context.textAlign = "right";
  context.fillText(mode === "row_id" ? count(last) : plural(last, "row ID"), at.right, below);
}

/** Return a raster as pixels: the colour of the encoding, fainter where it has few of the row IDs. */
function segmentPixels(raster: Segments, colors: Record<string, string>) {
  const image = new ImageData(raster.num_bins, raster.rows.length);
  const rgb = raster.kinds.map((kind) => [1, 3, 5].map((at) => parseInt(colors[kind].slice(at, at + 2), 16)));
  for (let i = 0; i < raster.kind.length; i += 1) {
    if (raster.kind[i] === 255) continue;
    const many = raster.begins[i] > 1 ? Math.max(0.55, 1 - 0.12 * Math.log2(raster.begins[i])) : 1;
    image.data.set([...rgb[raster.kind[i]].map((part) => part * many), raster.fill[i]], 4 * i);
  }
  return image;
}
