// What stands above and below the lanes: tags, commits by name and colour, versions and times.

import { unpackArrays } from "./arrays";
import type { Look } from "./canvas";
import { shortened } from "./canvas";
import { kindColor } from "./legend";
import type { CommitArrays, CommitsContent } from "./messages";
import { count, visible } from "./text";

export type Commits = ReturnType<typeof lineageCommits>;

/** Where versions and heights of the layout are in the picture, in px. */
export interface LineageScale {
  width: number;
  unit: number;
  side: number;
  end?: number;
  x: (version: number) => number;
  version: (x: number) => number;
}

export const AXIS = {
  tag: 17,
  names: 54,
  marks: 16,
  foot: 34,
  narrowestName: 11.5,
  narrowestMark: 4,
  bar: 6,
  tick: 92,
  pale: 0.45,
  recorded: 0.4,
};

/** Return commits as the picture asks for them: those that a branch inherited, then its own. */
export function lineageCommits(content: CommitsContent) {
  const { versions, times, kind, is_recorded: isRecorded } = unpackArrays<CommitArrays>(content);
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
    from(version: number) {
      let [low, high] = [0, versions.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (versions[middle] < version) low = middle + 1;
        else high = middle;
      }
      return low;
    },
    /** The position of the kept version that is nearest to a number; -1 if none is kept. */
    nearest(version: number) {
      const next = this.from(version);
      const isPrevious =
        next === versions.length || (next > 0 && version - versions[next - 1] <= versions[next] - version);
      const found = isPrevious ? next - 1 : next;
      return versions[found + 1] === versions[found] && found >= 0 ? found + 1 : found; // a fork
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
  if (scale.unit >= AXIS.narrowestMark) {
    drawCommitNames(context, commits, scale, first, last, top + AXIS.names - 5, look);
    drawCommitMarks(context, commits, scale, first, last, top + AXIS.names);
  } else drawCommitBars(context, commits, scale, first, last, top + 14, AXIS.names + AXIS.marks - 18, look);
}

function drawCommitMarks(
  context: CanvasRenderingContext2D,
  commits: Commits,
  scale: LineageScale,
  first: number,
  last: number,
  top: number,
) {
  const size = Math.min(9, scale.unit - 1);
  const middle = top + AXIS.marks / 2 - 2;
  for (let p = first; p < last; p += 1) {
    const x = scale.x(commits.versions[p]);
    context.globalAlpha = commits.isRecorded[p] ? AXIS.recorded : 1;
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

/** Name commits, all of one kind or none: the rarest kinds first, as long as names do not touch. */
function drawCommitNames(
  context: CanvasRenderingContext2D,
  commits: Commits,
  scale: LineageScale,
  first: number,
  last: number,
  baseline: number,
  look: Look,
) {
  const byName = new Map();
  for (let p = first; p < last; p += 1) {
    if (commits.versions[p] === commits.versions[p + 1]) continue; // a fork has the branch's name
    const name = commits.nameAt(p);
    byName.set(name, [...(byName.get(name) ?? []), p]);
  }
  let chosen: number[] = [];
  for (const [, positions] of [...byName].sort(([, a], [, b]) => a.length - b.length)) {
    const more = [...chosen, ...positions].sort((a, b) => a - b);
    const touches = more.some(
      (p, i) => i && (commits.versions[p] - commits.versions[more[i - 1]]) * scale.unit < AXIS.narrowestName,
    );
    if (!touches) chosen = more;
  }
  context.font = look.font;
  context.fillStyle = look.ink;
  context.textBaseline = "middle";
  const isAiry = scale.unit > 66;
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
  const bars = new Map();
  const own = new Set();
  for (let p = first; p < last; p += 1) {
    const bar = Math.floor(scale.x(commits.versions[p]) / AXIS.bar);
    if (p >= commits.numInherited) own.add(bar);
    const kinds = bars.get(bar) ?? new Map();
    kinds.set(commits.kind[p], (kinds.get(commits.kind[p]) ?? 0) + 1);
    bars.set(bar, kinds);
  }
  const totals = [...bars.values()].map((kinds) => [...kinds.values()].reduce((sum, number) => sum + number, 0));
  const most = Math.max(1, ...totals);
  for (const [bar, kinds] of bars) {
    let y = top + tall;
    context.globalAlpha = own.has(bar) ? 1 : AXIS.pale;
    for (const [kind, number] of [...kinds].sort(([a], [b]) => a - b)) {
      const high = (tall * number) / most;
      context.fillStyle = kindColor(commits, kind);
      context.fillRect(bar * AXIS.bar, y - high, AXIS.bar - 1, high);
      y -= high;
    }
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
  const free = new Array(rows).fill(-Infinity);
  for (const { name, version } of commits.tags) {
    const x = scale.x(version);
    if (x < 0 || x > scale.width) continue;
    context.strokeStyle = look.quiet;
    context.lineWidth = 1;
    context.setLineDash([2, 3]);
    context.beginPath();
    const label = shortened(context, visible(name.slice(0, 100)), 140);
    const wide = context.measureText(label).width + 20;
    const left = Math.min(x, scale.width - wide);
    const row = free.findIndex((end) => end < left - 4);
    context.moveTo(x, (row < 0 ? rows : row) * AXIS.tag + 9);
    context.lineTo(x, bottom);
    context.stroke();
    context.setLineDash([]);
    if (row < 0) continue;
    context.fillStyle = look.raised;
    context.strokeStyle = look.line;
    context.beginPath();
    context.roundRect(left, row * AXIS.tag + 1, wide, AXIS.tag - 3, 3);
    context.fill();
    context.stroke();
    context.fillStyle = look.ink;
    context.textAlign = "left";
    context.fillText(`⚑ ${label}`, left + 4, row * AXIS.tag + AXIS.tag / 2);
    free[row] = left + wide;
  }
}

/** Draw versions at round numbers, and their times below. */
export function drawLineageTicks(
  context: CanvasRenderingContext2D,
  commits: Commits,
  scale: LineageScale,
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
  const form = tickTimes(commits, scale);
  for (const version of tickVersions(scale)) {
    const x = scale.x(version);
    context.fillStyle = look.line;
    context.fillRect(Math.round(x), top, 1, 4);
    const p = commits.from(version);
    const time = commits.versions[p] === version ? form(commits.times[p]) : "";
    const wide = Math.max(context.measureText(count(version)).width, context.measureText(time).width);
    const at = Math.min(Math.max(x, wide / 2 + 1), scale.width - wide / 2 - 1);
    context.textAlign = "center";
    context.fillStyle = look.ink;
    context.fillText(count(version), at, top + 12);
    context.fillStyle = look.quiet;
    context.fillText(time, at, top + 26);
  }
}

function tickVersions(scale: LineageScale) {
  const [low, high] = [
    Math.ceil(scale.version(scale.side)),
    Math.floor(scale.version(scale.width - (scale.end ?? scale.side))),
  ];
  const most = Math.max(2, Math.floor(scale.width / AXIS.tick));
  let step = 1;
  for (let power = 1; (high - low) / step > most; power *= 10)
    step = [1, 2, 5].map((unit) => unit * power).find((size) => (high - low) / size <= most) ?? 10 * power;
  const ticks = [];
  for (let version = Math.ceil(low / step) * step; version <= high; version += step) ticks.push(version);
  if (!ticks.length || ticks[0] - low > 0.6 * step) ticks.unshift(low);
  return ticks;
}

/** Return how to write times, so that neighbours differ and no more is said than needed. */
function tickTimes(commits: Commits, scale: LineageScale) {
  const [first, last] = [
    commits.times[commits.from(scale.version(0))],
    commits.times[Math.min(commits.from(scale.version(scale.width)), commits.count - 1)],
  ];
  const day = 86_400_000;
  const span = last - first;
  const options: Intl.DateTimeFormatOptions =
    span > 20 * day
      ? { day: "numeric", month: "short", year: "numeric" }
      : span > day
        ? { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }
        : span > day / 24
          ? { hour: "2-digit", minute: "2-digit" }
          : { hour: "2-digit", minute: "2-digit", second: "2-digit" };
  const format = new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" });
  return (time: number) => (Number.isNaN(time) || time === undefined ? "" : format.format(time));
}
