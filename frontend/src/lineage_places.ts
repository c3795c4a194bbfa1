// What has room above and below a lineage picture: names of commits, tags, versions and their times;
// as lineage_places.py and lineage_ticks.py in Python do it.

import { dayOf } from "./text";

const PLACES = { mark: 4, name: 11.5, widestName: 66, tags: 4, tick: 84 };

/** Of what stands for several commits, in px. */
export const BAR_WIDTH = 6;

/** Whether commits are too many for a mark each. */
export function isCrowded(commits: number, width: number) {
  return commits * PLACES.mark > width;
}

/** How large the mark of a commit is where a version has so many px. */
export function markSize(unit: number) {
  return Math.min(Math.max(0.8 * unit, 2.5), 9);
}

/** The bar that a version belongs to, where `begin` is at the left. */
export function barOf(version: number, begin: number, unit: number) {
  return Math.floor(((version - begin) * unit) / BAR_WIDTH);
}

/**
 * Which commits from `first` up to `last` are named, and whether names have room side by side: all of
 * one name or none, the rarest first, as long as names do not touch. A fork has the branch's name.
 */
export function namedCommits(
  versions: ArrayLike<number>,
  nameAt: (position: number) => string,
  first: number,
  last: number,
  unit: number,
): [number[], boolean] {
  const byName = new Map<string, number[]>();
  for (let p = first; p < last; p += 1) {
    if (p + 1 < last && versions[p] === versions[p + 1]) continue;
    const positions = byName.get(nameAt(p));
    if (positions) positions.push(p);
    else byName.set(nameAt(p), [p]);
  }
  const narrowest = (positions: number[]) =>
    positions.reduce(
      (least, p, i) => (i ? Math.min(least, versions[p] - versions[positions[i - 1]]) : least),
      Infinity,
    );
  let chosen: number[] = [];
  for (const positions of [...byName.values()].sort((a, b) => a.length - b.length)) {
    const more = [...chosen, ...positions].sort((a, b) => a - b);
    if (narrowest(more) * unit >= PLACES.name) chosen = more;
  }
  return [chosen, narrowest(chosen) * unit > PLACES.widestName];
}

/** The left of each tag, [where its version is, how wide it is], and its row; null without room. */
export function placeTags(tags: [number, number][], width: number, mostRows: number): [number, number | null][] {
  const ends: number[] = new Array(mostRows).fill(-Infinity);
  return tags.map(([at, wide]) => {
    const left = Math.min(at, width - wide);
    const row = ends.findIndex((end) => end < left - PLACES.tags);
    if (row < 0) return [left, null];
    ends[row] = left + wide;
    return [left, row];
  });
}

/** The versions that have a tick: round numbers, and the first where they begin late. */
export function tickVersions(begin: number, end: number, width: number) {
  const [low, high] = [Math.ceil(begin), Math.floor(end)];
  const most = Math.max(2, Math.floor(width / PLACES.tick));
  let step = 1;
  for (let power = 1; (high - low) / step > most; power *= 10)
    step = [1, 2, 5].map((unit) => unit * power).find((size) => (high - low) / size <= most) ?? 10 * power;
  const ticks = [];
  for (let version = Math.ceil(low / step) * step; version <= high; version += step) ticks.push(version);
  if (!ticks.length || ticks[0] - low > 0.6 * step) ticks.unshift(low);
  return ticks;
}

const DAY = 86_400_000;

/** What holds for all times between two, in ms since 1970: their day, if it is one, and the time zone. */
export function timeTitle(first: number, last: number) {
  return `${isOneDay(first, last) ? ` on ${dayOf(first)}` : ""} (UTC)`;
}

/** How to write times between two, so that neighbours differ and no more is said than needed. */
export function timeForm(first: number, last: number): (time: number) => string {
  if (isOneDay(first, last)) return last - first < DAY / 24 ? (time) => clock(time, 19) : (time) => clock(time, 16);
  if (last - first >= 20 * DAY) return dayOf;
  return (time) => `${dayOf(time).slice(0, -5)} ${clock(time, 16)}`;
}

const isOneDay = (first: number, last: number) => Math.floor(first / DAY) === Math.floor(last / DAY);

const clock = (time: number, end: number) => new Date(time).toISOString().slice(11, end);
