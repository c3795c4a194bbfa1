// Where versions stand in the picture of a row's life: as far apart as their numbers are, or, where the
// marks of events would lie upon each other, with room between any two events.

import { bisectRight } from "d3-array";

/** In px: marks nearer than `least` cannot be told apart, and stand `wanted` apart then if there is room. */
const APART = { least: 12, wanted: 76 };

/** Parts before the first and after the last event need less room than those between events. */
const END_SHARE = 0.4;

/** How much of the width goes to equal room, the rest to how far apart the numbers are. */
const EQUAL = 0.85;

export interface LifeScale {
  x: (version: number) => number;
  version: (x: number) => number;
  /** Whether versions are as far apart as their numbers are. */
  isLinear: boolean;
}

/** The scale from `first` to `last`, at `left` and `right` px, for the versions of events. */
export function lifeScale(
  events: number[],
  { first, last, left, right }: { first: number; last: number; left: number; right: number },
): LifeScale {
  const width = right - left;
  const stops = [...new Set([first, ...events, last])].sort((a, b) => a - b);
  const isEvent = new Set(events);
  const parts = stops.slice(1).map((stop, i) => ({
    long: stop - stops[i],
    share: isEvent.has(stop) && isEvent.has(stops[i]) ? 1 : END_SHARE,
  }));
  const isClose = parts.some(({ long, share }) => share === 1 && (long * width) / (last - first) < APART.least);
  const shares = parts.reduce((sum, { share }) => sum + share, 0);
  const room = isClose ? Math.min(APART.wanted, (EQUAL * width) / shares) : 0;
  const unit = (width - room * shares) / (last - first);
  const places = [left];
  for (const [i, { long, share }] of parts.entries()) places.push(places[i] + room * share + unit * long);
  return { x: between(stops, places), version: between(places, stops), isLinear: !isClose };
}

/** What leads from ascending numbers to others, in straight lines, also beyond the outermost. */
function between(from: number[], to: number[]) {
  return (value: number) => {
    const i = Math.max(1, Math.min(bisectRight(from, value), from.length - 1));
    return to[i - 1] + ((value - from[i - 1]) / (from[i] - from[i - 1])) * (to[i] - to[i - 1]);
  };
}
