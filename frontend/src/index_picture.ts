// What an index had of each fragment, over versions, as a picture: a line of percent on top, the
// commits, and a row for each fragment below, or for several where they are many.

import type { Look } from "./canvas";
import { contextOf, lookOf, themeColor } from "./canvas";
import { node } from "./elements";
import type { History } from "./history";
import type { Lives } from "./index_lives";
import { addUp, COVERAGE, COVERAGE_WORDS, coverageLines, coverageRows, mixed, NO_LIVES } from "./index_lives";
import { kindColor } from "./legend";
import type { IndicesStory, LineArrays } from "./messages";
import { count, cut, finePercent, plural, shortId } from "./text";
import type { VersionScale } from "./version_axis";
import { drawCommits, drawGaps, drawTags, MARGIN, marginLabel, STRIP } from "./version_axis";
import { versionPicture } from "./version_picture";

export type IndicesHistory = History & IndicesStory & LineArrays;

/**
 * The picture: as a versionPicture, and `setLives(lives)`; `note()` says for what its rows and
 * columns stand. `onMove(position, id)` gets the ID of a fragment as text.
 */
export function indexPicture(
  root: HTMLElement,
  {
    onMove,
    describeVersion,
  }: { onMove: (position: number, id?: string | null) => void; describeVersion: (position: number) => Node[] },
) {
  let history!: IndicesHistory;
  let lines: Float64Array[] = [];
  let lives = NO_LIVES;
  let rows = { each: 1, number: 0, tall: 0 };
  let drawn: { step: number; columns: number; image: HTMLCanvasElement } | null = null; // the raster, as long as it is of use
  const top = () => (history?.tags.length ? STRIP.tags : 8);
  const tableTop = () => top() + STRIP.chart + STRIP.commits + 4;
  const height = () => tableTop() + rows.number * rows.tall + 4 + STRIP.axis;
  const chosen = () => history.index_names.indexOf(lives.index);
  const idOf = (slot: number) => String(lives.fragments[slot]);

  const picture = versionPicture(root, {
    label: "What the index covers",
    height,
    draw,
    drawMark,
    rowAt,
    nextRow,
    describe,
    words: (position, id) =>
      position < 0
        ? "no version"
        : `version ${count(history.versions[position])}${id === null ? "" : `, fragment ${count(id)}, ${coverageAt(id, position)}`}`,
    onMove,
  });

  function draw(context: CanvasRenderingContext2D, scale: VersionScale, width: number) {
    const look = lookOf(context.canvas);
    drawPercent(context, history, scale, { top: top(), lines, chosen: chosen(), look, width });
    drawCommits(context, history, scale, top() + STRIP.chart);
    marginLabel(context, "commits", top() + STRIP.chart + (STRIP.commits - 6) / 2 + 1, look.quiet);
    if (lives.count) drawTable(context, scale, look);
    drawGaps(context, history, scale, top(), height() - STRIP.axis - top());
    drawTags(context, history, scale, width);
  }

  function drawTable(context: CanvasRenderingContext2D, scale: VersionScale, look: Look) {
    const step = scale.unit >= 1 ? 1 : Math.ceil(1 / scale.unit);
    const columns = Math.ceil(history.count / step);
    if (drawn?.step !== step) drawn = { step, columns, image: rasterOf(step, columns) };
    context.imageSmoothingEnabled = false;
    const [y, tall] = [tableTop(), rows.number * rows.tall];
    for (const [begin, end] of stretchesWithoutGap(history)) {
      const [first, last] = [Math.floor(begin / step), Math.floor(end / step)];
      const left = scale.left[begin];
      const right = scale.left[end] + scale.unit;
      context.drawImage(drawn.image, first, 0, last - first + 1, rows.number, left, y, right - left, tall);
    }
    separate(context, scale, look, y, tall);
    labelRows(context, look, y);
  }

  function rasterOf(step: number, columns: number) {
    const off = document.createElement("canvas");
    [off.width, off.height] = [columns, rows.number];
    contextOf(off).putImageData(
      mixed(lives, addUp(lives, rows, step, columns), rows, step, columns, history.count),
      0,
      0,
    );
    return off;
  }

  /** Part the rows, and the versions, where there is room for it. */
  function separate(context: CanvasRenderingContext2D, scale: VersionScale, look: Look, y: number, tall: number) {
    context.fillStyle = look.paper;
    const right = scale.left[history.count - 1] + scale.unit;
    if (rows.tall >= 5)
      for (let row = 1; row < rows.number; row += 1) context.fillRect(0, y + row * rows.tall - 1, right + 1, 1);
    if (scale.unit >= COVERAGE.narrowest)
      for (let p = 0; p < history.count; p += 1)
        context.fillRect(Math.round(scale.left[p] + scale.unit) - 1, y, 1, tall);
  }

  function labelRows(context: CanvasRenderingContext2D, look: Look, y: number) {
    const apart = Math.max(1, Math.ceil(13 / rows.tall));
    let written = -apart;
    for (let row = 0; row < rows.number; row += 1) {
      if (row - written < apart) continue;
      marginLabel(context, shortId(idOf(row * rows.each)), y + (row + 0.5) * rows.tall - 0.5, look.quiet);
      written = row;
    }
  }

  /** Frame the row of the chosen fragment, and name it in the margin. */
  function drawMark(context: CanvasRenderingContext2D, scale: VersionScale, _width: number, id: string | null) {
    const slot = id === null ? undefined : lives.slotOf(id);
    if (id === null || slot === undefined) return;
    const y = tableTop() + Math.floor(slot / rows.each) * rows.tall;
    const tall = Math.max(rows.tall, 3);
    const accent = themeColor(context.canvas, "accent");
    context.strokeStyle = themeColor(context.canvas, "ink");
    context.lineWidth = 1.5;
    context.strokeRect(STRIP.side - 1, y - 1, scale.left[history.count - 1] + scale.unit - STRIP.side + 2, tall + 1);
    context.fillStyle = accent;
    context.beginPath();
    const middle = y + tall / 2;
    context.roundRect(4 - MARGIN, middle - 8, MARGIN - 9, 16, 4);
    context.fill();
    marginLabel(context, shortId(id), middle, themeColor(context.canvas, "paper"), 600);
  }

  // --- places

  function rowAt(y: number, position: number) {
    const row = Math.floor((y - tableTop()) / rows.tall);
    if (row < 0 || row >= rows.number) return null;
    const members = membersOf(row);
    const there = members.filter((slot) => lives.at(slot, position));
    const lacking = there.find((slot) => lives.coverages[lives.at(slot, position)] === "not_covered");
    return idOf(lacking ?? there[0] ?? members[0]);
  }

  function membersOf(row: number) {
    const begin = row * rows.each;
    return Array.from({ length: Math.min(rows.each, lives.count - begin) }, (_, i) => begin + i);
  }

  function nextRow(id: string | null, step: number, position: number) {
    if (!lives.count) return undefined;
    const now = id === null ? undefined : lives.slotOf(id);
    let slot = now === undefined ? (step > 0 ? 0 : lives.count - 1) : now + step;
    while (slot >= 0 && slot < lives.count && !lives.at(slot, position)) slot += step;
    return slot < 0 || slot >= lives.count ? undefined : idOf(slot);
  }

  function coverageAt(id: string, position: number) {
    const slot = lives.slotOf(id);
    const kind = slot === undefined ? 0 : lives.at(slot, position);
    return kind ? COVERAGE_WORDS[lives.coverages[kind]] : "not in this version";
  }

  // --- words

  function describe(position: number, id: string | null) {
    const share = lines[chosen()]?.[position];
    const told = [...describeVersion(position)];
    if (lives.index && !Number.isNaN(share ?? NaN))
      told.push(node("div", {}, `${cut(lives.index, 60)} covers ${finePercent(share)} of the rows`));
    if (id !== null && lives.slotOf(id) !== undefined)
      told.push(...describeRow(Math.floor((lives.slotOf(id) ?? 0) / rows.each), position));
    return told;
  }

  function describeRow(row: number, position: number) {
    const members = membersOf(row);
    if (members.length === 1)
      return [
        node(
          "div",
          {},
          node("strong", {}, `Fragment ${count(idOf(members[0]))}`),
          `: ${coverageAt(idOf(members[0]), position)}`,
        ),
      ];
    const counts = new Map();
    for (const slot of members) counts.set(lives.at(slot, position), (counts.get(lives.at(slot, position)) ?? 0) + 1);
    counts.delete(0);
    const lines = [...counts]
      .sort(([a], [b]) => a - b)
      .map(([kind, number]) => `${count(number)} ${COVERAGE_WORDS[lives.coverages[kind]]}`);
    return [
      node(
        "div",
        {},
        node("strong", {}, `Fragments ${count(idOf(members[0]))} to ${count(idOf(members[members.length - 1]))}`),
        `: ${lines.join("; ") || "none in this version"}`,
      ),
    ];
  }

  return {
    ...picture,
    setHistory(newest: IndicesHistory) {
      history = newest;
      lines = coverageLines(history);
      lives = NO_LIVES;
      rows = { each: 1, number: 0, tall: 0 };
      picture.setHistory(newest);
    },
    setLives(newest: Lives) {
      lives = newest;
      rows = coverageRows(lives);
      drawn = null;
      picture.redraw();
    },
    /** How many fragments of a version the index covers, and so on: [name, number]. */
    countsAt(position: number) {
      const counts = new Map();
      for (let slot = 0; slot < lives.count; slot += 1) {
        const kind = lives.at(slot, position);
        if (kind) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
      return [...counts].sort(([a], [b]) => a - b).map(([kind, number]) => [lives.coverages[kind], number] as const);
    },
    note() {
      if (rows.each === 1) return "";
      return `${plural(lives.count, "fragment")} in ${plural(rows.number, "row")}, up to ${count(rows.each)} each: colours mix`;
    },
  };
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
function drawPercent(
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
    context.beginPath();
    for (let p = 0; p < history.count; p += 1) {
      if (Number.isNaN(line[p])) continue;
      const isFirst = p === 0 || history.gapBefore[p] || Number.isNaN(line[p - 1]);
      if (isFirst) context.moveTo(scale.left[p], y(line[p]));
      else context.lineTo(scale.left[p], y(line[p]));
      context.lineTo(scale.left[p] + scale.unit, y(line[p]));
    }
    context.stroke();
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
