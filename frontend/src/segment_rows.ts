// The row-ID segments of a version: a row for each fragment, or for several, with its segments in
// the colours of their encodings, and beside it the bytes that they take, now and at best.

import type { Look } from "./canvas";
import { canvas, canvasFont, contextOf, fitting, lookOf, onTheme } from "./canvas";
import { node, setAttributes } from "./elements";
import { isCommand } from "./keys";
import type { EncodingsVersion, SegmentMode, SegmentsContent } from "./messages";
import { count, plural, shortId } from "./text";
import { tooltip } from "./tooltip";
import { MARGIN, marginLabel } from "./version_axis";

type Arrays<Prefix extends string> = Record<`${Prefix}segment_kind` | `${Prefix}segment_fill`, Uint8Array> &
  Record<`${Prefix}segment_begins`, Int32Array> &
  Record<`${Prefix}row_bytes` | `${Prefix}row_best`, Float64Array>;

/** The arrays of all fragments, and those of the chosen one. */
export type SegmentArrays = Arrays<""> & Arrays<"one_">;

/** A raster of segments with its arrays. */
export interface Segments extends SegmentsContent {
  kind: Uint8Array;
  fill: Uint8Array;
  begins: Int32Array;
  bytes: Float64Array;
  best: Float64Array;
}

export interface ShownSegments {
  segments: Segments;
  one: Segments | null;
  id: string | null;
  mode: SegmentMode;
  colors: Record<string, string>;
  version: string;
}

interface SegmentPlaces {
  left: number;
  right: number;
  begin: number;
  end: number;
}

const SEGMENTS = { most: 420, row: 20, least: 3, head: 20, foot: 18, gap: 18, words: 140, border: 5 }; // px

export const ENCODING_WORDS = (name: string) => name.replaceAll("_", " ");

/** Return a raster of segments from Python, with what the picture asks it. */
export function unpackSegments(content: EncodingsVersion, arrays: SegmentArrays, prefix: "" | "one_" = ""): Segments {
  const about = prefix ? content.one : content;
  return {
    ...about,
    kind: arrays[`${prefix}segment_kind`],
    fill: arrays[`${prefix}segment_fill`],
    begins: arrays[`${prefix}segment_begins`],
    bytes: arrays[`${prefix}row_bytes`],
    best: arrays[`${prefix}row_best`],
  };
}

/**
 * The picture: `element`, `show({segments, one, id, mode, colors, version})`, or null for nothing, and
 * `close()`. `onSelect(id)` is called with the ID of a fragment as text, or null.
 */
export function segmentRows(root: HTMLElement, { onSelect }: { onSelect: (id: string | null) => void }) {
  let shown: ShownSegments | null = null; // {segments, one, id, mode, colors, version}
  const picture = canvas(40, draw);
  const tip = tooltip(root);
  const element = picture.element;
  setAttributes(element, { role: "application", tabindex: "0", "aria-roledescription": "chart of fragments" });

  const rowTall = () => {
    const number = shown?.segments.rows.length ?? 0;
    return number ? Math.max(SEGMENTS.least, Math.min(SEGMENTS.row, Math.floor(SEGMENTS.most / number))) : 0;
  };
  const oneTop = () => SEGMENTS.head + rowTall() * (shown?.segments.rows.length ?? 0) + SEGMENTS.foot;
  const height = () => (shown?.segments.rows.length ? oneTop() + (shown.one ? 44 : 0) + 2 : 0);

  function places(width: number) {
    const left = MARGIN;
    const words = width < 620 ? 0 : SEGMENTS.words;
    const sizes = Math.round((width - left - words) * 0.26);
    const right = width - words - sizes - SEGMENTS.gap;
    return { left, right, begin: right + SEGMENTS.gap, end: width - words };
  }

  function draw(context: CanvasRenderingContext2D, width: number) {
    if (!shown?.segments.rows.length) return;
    const { segments, one, id, mode, colors } = shown;
    const look = lookOf(element);
    const at = places(width);
    drawHeads(context, at, look, mode);
    const tall = rowTall();
    drawRaster(context, segments, colors, at, SEGMENTS.head, tall, look);
    drawSizes(context, segments, colors, at, SEGMENTS.head, tall, look, width);
    drawIds(context, segments, id, at, SEGMENTS.head, tall, look);
    drawFoot(context, segments, at, SEGMENTS.head + tall * segments.rows.length, look, mode);
    if (one) {
      drawRaster(context, one, colors, at, oneTop(), 24, look);
      drawSizes(context, one, colors, at, oneTop(), 24, look, width);
      marginAt(context, one.rows[0][0], oneTop() + 12, look.accent, 600);
      drawFoot(context, one, at, oneTop() + 24, look, mode);
    }
    element.dataset.drawn = `${shown.version} ${id ?? ""} ${mode}`;
  }

  function marginAt(context: CanvasRenderingContext2D, id: string, y: number, color: string, weight: number) {
    context.save();
    context.translate(MARGIN, 0);
    marginLabel(context, shortId(id), y, color, weight);
    context.restore();
  }

  function drawHeads(context: CanvasRenderingContext2D, at: SegmentPlaces, look: Look, mode: SegmentMode) {
    context.font = canvasFont(element);
    context.fillStyle = look.quiet;
    context.textBaseline = "alphabetic";
    context.textAlign = "right";
    context.fillText("fragment", at.left - 10, SEGMENTS.head - 7);
    context.textAlign = "left";
    const texts =
      mode === "position"
        ? ["segments, by position in the sequence", "by position"]
        : ["segments, by the row IDs in them", "by row ID"];
    context.fillText(fitting(context, texts, at.right - at.left), at.left, SEGMENTS.head - 7);
    context.fillText(
      fitting(context, ["bytes now, and ◆ at best", "bytes, ◆ best", "bytes"], at.end - at.begin),
      at.begin,
      SEGMENTS.head - 7,
    );
  }

  function drawRaster(
    context: CanvasRenderingContext2D,
    raster: Segments,
    colors: Record<string, string>,
    at: SegmentPlaces,
    y: number,
    tall: number,
    look: Look,
  ) {
    const image = document.createElement("canvas");
    [image.width, image.height] = [raster.num_bins, raster.rows.length];
    contextOf(image).putImageData(segmentPixels(raster, colors), 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(image, at.left, y, at.right - at.left, tall * raster.rows.length);
    const bin = (at.right - at.left) / raster.num_bins;
    if (tall >= 6) drawBorders(context, raster, at, y, tall, bin, look);
    context.fillStyle = look.paper;
    if (tall >= 5)
      for (let row = 1; row < raster.rows.length; row += 1)
        context.fillRect(at.left, y + row * tall - 1, at.right - at.left, 1);
  }

  /** Part neighbouring segments, unless they are too narrow for it. */
  function drawBorders(
    context: CanvasRenderingContext2D,
    raster: Segments,
    at: SegmentPlaces,
    y: number,
    tall: number,
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
    raster: Segments,
    colors: Record<string, string>,
    at: SegmentPlaces,
    y: number,
    tall: number,
    look: Look,
    width: number,
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
      if (width - at.end >= SEGMENTS.words && tall >= 11) {
        context.font = canvasFont(element);
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
    raster: Segments,
    id: string | null,
    at: SegmentPlaces,
    y: number,
    tall: number,
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
    raster: Segments,
    at: SegmentPlaces,
    y: number,
    look: Look,
    mode: SegmentMode,
  ) {
    context.font = canvasFont(element);
    context.fillStyle = look.quiet;
    context.textBaseline = "alphabetic";
    context.textAlign = "left";
    const last = BigInt(raster.end) > 0n ? String(BigInt(raster.end) - (mode === "row_id" ? 1n : 0n)) : "0";
    context.fillText(mode === "row_id" ? `row ID ${count(raster.begin)}` : "0", at.left, y + 12);
    context.textAlign = "right";
    context.fillText(mode === "row_id" ? count(last) : plural(last, "row ID"), at.right, y + 12);
  }

  // --- choosing

  function rowOf(raster: Segments, id: string) {
    const wanted = BigInt(id);
    return raster.rows.findIndex(([first, last]) => BigInt(first) <= wanted && wanted <= BigInt(last));
  }

  function placeOf(event: MouseEvent) {
    const box = element.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - SEGMENTS.head) / rowTall());
    return shown && row >= 0 && row < shown.segments.rows.length ? row : -1;
  }

  function describe(row: number) {
    const [first, ...others] = (shown as ShownSegments).segments.row_words[row];
    return [node("strong", {}, first), ...others.map((line) => node("div", {}, line))];
  }

  element.addEventListener("pointermove", (event) => {
    const row = placeOf(event);
    if (row < 0) tip.hide();
    else tip.show(event, ...describe(row));
  });
  element.addEventListener("pointerleave", () => tip.hide());
  element.addEventListener("click", (event) => {
    const row = placeOf(event);
    if (!shown || row < 0) return;
    const [id] = shown.segments.rows[row];
    const isChosen = shown.id !== null && rowOf(shown.segments, shown.id) === row;
    onSelect(isChosen ? null : id);
  });
  element.addEventListener("keydown", (event) => {
    if (!shown || isCommand(event)) return;
    const { rows } = shown.segments;
    const now = shown.id === null ? -1 : rowOf(shown.segments, shown.id);
    const targets: Record<string, number> = {
      ArrowDown: now + 1,
      ArrowUp: now < 0 ? rows.length - 1 : now - 1,
      PageDown: now + 10,
      PageUp: now - 10,
      Home: 0,
      End: rows.length - 1,
    };
    if (event.key === "Escape") {
      if (shown.id !== null) onSelect(null);
    } else if (event.key in targets) {
      const row = Math.min(Math.max(targets[event.key], 0), rows.length - 1);
      if (rows.length && row !== now) onSelect(rows[row][0]);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const stopTheme = onTheme(() => picture.redraw());

  return {
    element,
    show(newest: ShownSegments | null) {
      shown = newest;
      element.style.height = `${height()}px`;
      element.hidden = !shown?.segments.rows.length;
      const chosen =
        shown?.id === null || shown?.id === undefined ? "none chosen" : `fragment ${count(shown.id)} chosen`;
      setAttributes(element, {
        "aria-label": `Segments of ${plural(shown?.segments.rows.length ?? 0, "row")} of fragments, ${chosen}; arrow keys choose one`,
      });
      picture.redraw();
    },
    close() {
      stopTheme();
      picture.close();
    },
  };
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
