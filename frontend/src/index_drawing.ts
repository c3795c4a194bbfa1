// Painting what an index covers: the share of the rows as a line, and each fragment's versions as a row.

import type { Look } from "./canvas";
import type { History } from "./history";
import { COVERAGE, type CoverageRows } from "./index_lives";
import { kindColor } from "./legend";
import type { VersionScale } from "./version_axis";
import { marginLabel, STRIP, stepPath } from "./version_axis";

/** What the index has of the fragments in each row: a pixel of `image` is `step` versions of a row. */
export function drawCoverage(
  context: CanvasRenderingContext2D,
  history: History,
  scale: VersionScale,
  {
    image,
    step,
    rows,
    top,
    look,
  }: { image: HTMLCanvasElement; step: number; rows: CoverageRows; top: number; look: Look },
) {
  context.imageSmoothingEnabled = false;
  const tall = rows.number * rows.tall;
  for (const [begin, end] of stretchesWithoutGap(history)) {
    const [first, last] = [Math.floor(begin / step), Math.floor(end / step)];
    const left = scale.left[begin];
    const right = scale.left[end] + scale.unit;
    context.drawImage(image, first, 0, last - first + 1, rows.number, left, top, right - left, tall);
  }
  context.fillStyle = look.paper;
  const right = scale.left[history.count - 1] + scale.unit;
  if (rows.tall >= 5)
    for (let row = 1; row < rows.number; row += 1) context.fillRect(0, top + row * rows.tall - 1, right + 1, 1);
  if (scale.unit >= COVERAGE.narrowest)
    for (let p = 0; p < history.count; p += 1)
      context.fillRect(Math.round(scale.left[p] + scale.unit) - 1, top, 1, tall);
}

/** Name the rows in the margin, as far as there is room. */
export function labelRows(
  context: CanvasRenderingContext2D,
  rows: CoverageRows,
  nameOf: (row: number) => string,
  top: number,
  look: Look,
) {
  const apart = Math.max(1, Math.ceil(13 / rows.tall));
  for (let row = 0; row < rows.number; row += apart)
    marginLabel(context, nameOf(row), top + (row + 0.5) * rows.tall - 0.5, look.quiet);
}

/** The stretches of versions that follow each other without a gap: first and last position. */
function stretchesWithoutGap(history: History) {
  const stretches = [];
  for (let p = 0; p < history.count; p += 1) {
    if (p === 0 || history.gapBefore[p]) stretches.push([p, p]);
    else stretches[stretches.length - 1][1] = p;
  }
  return stretches;
}

/** The part of the rows that each index answers for, in steps; that of the chosen one in bold. */
export function drawPercent(
  context: CanvasRenderingContext2D,
  history: History,
  scale: VersionScale,
  {
    top,
    lines,
    chosen,
    look,
    width,
  }: { top: number; lines: Float64Array[]; chosen: number; look: Look; width: number },
) {
  const [high, low] = [top + 5, top + STRIP.chart - 6];
  const y = (share: number) => low - share * (low - high);
  marginLabel(context, "100 %", high, look.quiet);
  marginLabel(context, "0 %", low - 3, look.quiet);
  context.strokeStyle = look.line;
  context.lineWidth = 1;
  for (const share of [0, 1]) {
    context.beginPath();
    context.moveTo(STRIP.side, Math.round(y(share)) + 0.5);
    context.lineTo(width - STRIP.side, Math.round(y(share)) + 0.5);
    context.stroke();
  }
  const drawLine = (line: Float64Array, color: string, wide: number) => {
    context.strokeStyle = color;
    context.lineWidth = wide;
    context.stroke(stepPath(history, scale, line, y));
  };
  lines.forEach((line, i) => {
    if (i !== chosen) drawLine(line, look.line, 1.5);
  });
  if (chosen < 0) return;
  drawLine(lines[chosen], look.ink, 2);
  for (const { p, now } of marked(lines[chosen], scale)) {
    context.beginPath();
    context.arc(scale.center(p), y(now), 4, 0, 2 * Math.PI);
    context.fillStyle = kindColor(history, history.kind[p]);
    context.fill();
    context.strokeStyle = look.paper;
    context.lineWidth = 1;
    context.stroke();
  }
}

/** The versions in which a line changed, the largest changes first, as far as there is room. */
function marked(line: Float64Array, scale: VersionScale) {
  const changes = [];
  for (let p = 0; p < line.length; p += 1) {
    const [before, now] = [p ? line[p - 1] : NaN, line[p]];
    if (!Number.isNaN(now) && !Object.is(now, before))
      changes.push({ p, now, much: Number.isNaN(before) ? 1 : Math.abs(now - before) });
  }
  const taken = new Set();
  const large = changes.length > COVERAGE.marks ? changes.filter(({ much }) => much >= COVERAGE.large) : changes;
  return large
    .sort((a, b) => b.much - a.much || a.p - b.p)
    .filter(({ p }) => {
      const place = Math.round(scale.center(p) / COVERAGE.apart);
      const isFree = ![place - 1, place, place + 1].some((near) => taken.has(near));
      if (isFree || scale.unit >= COVERAGE.apart) taken.add(place);
      return isFree || scale.unit >= COVERAGE.apart;
    });
}
