// What stands above and below the lanes: tags, commits by name and colour, versions and times.

import { bisectCenter, bisectLeft } from "d3-array";
import type { Look } from "./canvas";
import { shortened } from "./canvas";
import { commitBars } from "./commit_bars";
import { kindColor } from "./legend";
import {
  BAR_WIDTH,
  barOf,
  isCrowded,
  markSize,
  namedCommits,
  placeTags,
  tickVersions,
  timeForm,
} from "./lineage_places";
import type { Commits as CommitsMessage } from "./messages";
import { count, visible } from "./text";

export type Commits = ReturnType<typeof lineageCommits>;

/** Where versions are in a picture, in px. */
export interface AxisScale {
  width: number;
  side: number;
  end?: number;
  x: (version: number) => number;
  version: (x: number) => number;
  /** The versions to write below it; round numbers if there are none. */
  ticks?: number[];
}

/** Where they are if all are equally far apart. */
export interface LineageScale extends AxisScale {
  unit: number;
}

export const AXIS = { tag: 17, names: 54, marks: 16, foot: 34, pale: 0.4, widestTag: 140 };

/** Return commits as the picture asks for them: those that a branch inherited, then its own. */
export function lineageCommits(content: CommitsMessage) {
  const { versions, times, kind, is_recorded: isRecorded } = content;
  return {
    kinds: content.kinds,
    operations: content.operations,
    tags: content.tags.map(({ name, version, place }) => ({ name, version: Number(version), place })),
    origins: content.origins,
    /** How many versions are inherited. */
    numInherited: content.origins.at(-1)?.end ?? 0,
    /** The branch that a version was inherited from; undefined for one of the branch itself. */
    originAt(p: number) {
      const origin = content.origins.find(({ end }) => p < end);
      return origin && (origin.branch ?? "main");
    },
    versions,
    times,
    kind,
    isRecorded,
    count: versions.length,
    /** The position of the first version that is not below a number. */
    from: (version: number) => bisectLeft(versions, version),
    /** The position of the kept version that is nearest to a number; -1 if none is kept. */
    nearest(version: number) {
      if (!versions.length) return -1;
      const found = bisectCenter(versions, version);
      return versions[found + 1] === versions[found] ? found + 1 : found; // a fork
    },
    nameAt(p: number) {
      return content.operations[p] === "ReserveFragments" ? "reserve" : content.kinds[kind[p]];
    },
  };
}

/** Draw commits: each with its mark and name where there is room, or else as bars of their kinds. */
export function drawLineageCommits(
  context: CanvasRenderingContext2D,
  commits: Commits,
  scale: LineageScale,
  top: number,
  look: Look,
) {
  const [first, last] = [commits.from(scale.version(0)), commits.from(scale.version(scale.width) + 1)];
  if (isCrowded(last - first, scale.width)) {
    drawCommitBars(context, commits, scale, first, last, top + 14, AXIS.names + AXIS.marks - 18, look);
    return;
  }
  drawCommitNames(context, commits, scale, first, last, top + AXIS.names - 5, look);
  drawCommitMarks(context, commits, scale, first, last, top + AXIS.names);
}

function drawCommitMarks(
  context: CanvasRenderingContext2D,
  commits: Commits,
  scale: LineageScale,
  first: number,
  last: number,
  top: number,
) {
  const size = markSize(scale.unit);
  const middle = top + AXIS.marks / 2 - 2;
  for (let p = first; p < last; p += 1) {
    const x = scale.x(commits.versions[p]);
    context.globalAlpha = commits.isRecorded[p] ? AXIS.pale : 1;
    if (p < commits.numInherited) {
      // hollow, and around that of the branch at its fork
      const wide = size < 9 ? size - 1.5 : size + 1;
      context.strokeStyle = kindColor(commits, commits.kind[p]);
      context.lineWidth = 1.5;
      context.strokeRect(x - wide / 2, middle - wide / 2, wide, wide);
      continue;
    }
    const inner = commits.versions[p - 1] === commits.versions[p] ? size - 3 : size;
    context.fillStyle = kindColor(commits, commits.kind[p]);
    context.fillRect(x - inner / 2, middle - inner / 2, inner, inner);
  }
  context.globalAlpha = 1;
}

function drawCommitNames(
  context: CanvasRenderingContext2D,
  commits: Commits,
  scale: LineageScale,
  first: number,
  last: number,
  baseline: number,
  look: Look,
) {
  context.font = look.font;
  context.fillStyle = look.ink;
  context.textBaseline = "middle";
  const [chosen, isAiry] = namedCommits(commits.versions, commits.nameAt, first, last, scale.unit);
  for (const p of chosen) {
    context.save();
    context.translate(scale.x(commits.versions[p]), baseline);
    if (!isAiry) context.rotate(-Math.PI / 2);
    context.textAlign = isAiry ? "center" : "left";
    context.fillText(commits.nameAt(p), 0, isAiry ? -8 : 0);
    context.restore();
  }
}

/** For some versions at a time, a bar as tall as their commits are many, parted by kinds. */
function drawCommitBars(
  context: CanvasRenderingContext2D,
  commits: Commits,
  scale: LineageScale,
  first: number,
  last: number,
  top: number,
  tall: number,
  look: Look,
) {
  const begin = scale.version(0);
  const parts = commitBars(
    first,
    last,
    (p) => barOf(commits.versions[p], begin, scale.unit),
    (p) => commits.kind[p],
    (p) => p >= commits.numInherited,
  );
  const most = parts.reduce((most, { total }) => Math.max(most, total), 1);
  for (const { bin, kind, start, commits: number, isPale } of parts) {
    context.globalAlpha = isPale ? AXIS.pale : 1;
    context.fillStyle = kindColor(commits, kind);
    const high = (tall * number) / most;
    context.fillRect(bin * BAR_WIDTH, top + tall - (tall * start) / most - high, BAR_WIDTH - 1, high);
  }
  context.globalAlpha = 1;
  context.font = look.font;
  context.fillStyle = look.quiet;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText("commits by kind", scale.side, top - 8);
}

/** Draw tags as flags, in rows as far as there is room; return how many have no name drawn. */
export function drawLineageTags(
  context: CanvasRenderingContext2D,
  commits: Commits,
  scale: LineageScale,
  rows: number,
  bottom: number,
  look: Look,
) {
  context.font = look.font;
  context.textBaseline = "middle";
  const tags = commits.tags
    .map(({ name, version }) => ({
      x: scale.x(version),
      label: shortened(context, visible(name.slice(0, 100)), AXIS.widestTag),
    }))
    .filter(({ x }) => x >= 0 && x <= scale.width);
  const wanted = tags.map(({ x, label }): [number, number] => [x, context.measureText(label).width + 20]);
  for (const [i, [left, row]] of placeTags(wanted, scale.width, rows).entries()) {
    const [x, wide] = wanted[i];
    context.strokeStyle = look.quiet;
    context.lineWidth = 1;
    context.setLineDash([2, 3]);
    context.beginPath();
    context.moveTo(x, (row ?? rows) * AXIS.tag + 9);
    context.lineTo(x, bottom);
    context.stroke();
    context.setLineDash([]);
    if (row === null) continue;
    context.fillStyle = look.raised;
    context.strokeStyle = look.line;
    context.beginPath();
    context.roundRect(left, row * AXIS.tag + 1, wide, AXIS.tag - 3, 3);
    context.fill();
    context.stroke();
    context.fillStyle = look.ink;
    context.textAlign = "left";
    context.fillText(`⚑ ${tags[i].label}`, left + 4, row * AXIS.tag + AXIS.tag / 2);
  }
}

/** Draw versions, and their times below. */
export function drawLineageTicks(
  context: CanvasRenderingContext2D,
  commits: Commits,
  scale: AxisScale,
  top: number,
  look: Look,
) {
  context.strokeStyle = look.line;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(0, top + 0.5);
  context.lineTo(scale.width, top + 0.5);
  context.stroke();
  context.font = look.font;
  context.textBaseline = "middle";
  const [low, high] = [scale.version(scale.side), scale.version(scale.width - (scale.end ?? scale.side))];
  const ends = timesInSight(commits, low, high);
  const form = ends && timeForm(...ends);
  context.textAlign = "center";
  const ticks = scale.ticks ?? tickVersions(low, high, scale.width);
  const [numbers, times] = [freeRow(), freeRow()];
  for (const version of [...ticks.slice(-1), ...ticks.slice(0, -1)]) {
    const x = scale.x(version);
    context.fillStyle = look.line;
    context.fillRect(Math.round(x), top, 1, 4);
    const p = commits.from(version);
    const isKnown = commits.versions[p] === version && !Number.isNaN(commits.times[p]);
    const time = form && isKnown ? form(commits.times[p]) : "";
    const [number, wide] = [count(version), context.measureText(time).width];
    const narrow = context.measureText(number).width;
    const half = Math.max(narrow, wide) / 2;
    const at = Math.min(Math.max(x, half + 1), scale.width - half - 1);
    if (!numbers.take(at, narrow)) continue;
    context.fillStyle = look.ink;
    context.fillText(number, at, top + 12);
    if (!time || !times.take(at, wide)) continue;
    context.fillStyle = look.quiet;
    context.fillText(time, at, top + 26);
  }
}

/** A line of labels, none of which touches another: `take(center, width)` tells whether there is room. */
export function freeRow(apart = 6) {
  const taken: [number, number][] = [];
  return {
    take(center: number, width: number) {
      const [left, right] = [center - width / 2, center + width / 2];
      if (taken.some(([begin, end]) => left < end + apart && right > begin - apart)) return false;
      taken.push([left, right]);
      return true;
    },
  };
}

/** The first and the last known time of some versions, null if none is known. */
export function timesInSight(commits: Commits, begin: number, end: number): [number, number] | null {
  let [first, last] = [commits.from(Math.ceil(begin)), commits.from(Math.floor(end) + 1) - 1];
  while (first <= last && Number.isNaN(commits.times[first])) first += 1;
  while (first <= last && Number.isNaN(commits.times[last])) last -= 1;
  return first <= last ? [commits.times[first], commits.times[last]] : null;
}
