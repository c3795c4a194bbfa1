// Which versions of a lineage picture are in sight, how large they are drawn, and which are asked for.

import type { LaneScale } from "./lineage_drawing";

/** A part of the axis, in versions; its ends may lie between two. */
export interface Sight {
  x0: number;
  x1: number;
}

/** The first and the last of some versions. */
export type Span = [number, number];

/** The margin beside the versions, in px. */
export const SIDE = 12;

const [BESIDE, FEWEST] = [0.4, 3]; // versions: half of one beside the outermost; the least in sight

const FLATTEST = 0.45; // of their height, where lanes do not all fit

/** What shows some versions whole. */
export function sightOf(begin: number, end: number): Sight {
  return { x0: begin - BESIDE, x1: end + BESIDE };
}

export function width({ x0, x1 }: Sight) {
  return x1 - x0;
}

/** The nearest that is within the whole, neither too narrow nor too wide. */
export function bounded({ x0, x1 }: Sight, whole: Sight): Sight {
  const longest = width(whole);
  const span = Math.min(Math.max(x1 - x0, Math.min(FEWEST, longest)), longest);
  const start = Math.min(Math.max((x0 + x1) / 2 - span / 2, whole.x0), whole.x1 - span);
  return { x0: start, x1: start + span };
}

export function moved({ x0, x1 }: Sight, versions: number): Sight {
  return { x0: x0 + versions, x1: x1 + versions };
}

/** Larger by a factor, about what is at a part of the width. */
export function zoomed(sight: Sight, factor: number, at = 0.5): Sight {
  const center = sight.x0 + at * width(sight);
  return { x0: center - (center - sight.x0) / factor, x1: center + (sight.x1 - center) / factor };
}

export function isWhole(sight: Sight, whole: Sight) {
  return width(sight) >= width(whole) * (1 - 1e-9); // rounding may take a little
}

/** The versions in sight, whole ones. */
export function versionsIn(sight: Sight, whole: Sight): Span {
  return [Math.max(Math.ceil(sight.x0), Math.ceil(whole.x0)), Math.min(Math.floor(sight.x1), Math.floor(whole.x1))];
}

/** What the picture is drawn by: lanes of some height from `top` on, the first `offset` of it out of sight. */
export function laneScale(
  sight: Sight,
  { height, offset }: { height: number; offset: number },
  { width: wide, top, room }: { width: number; top: number; room: number },
): LaneScale {
  const ky = Math.max(Math.min(1, room / height), FLATTEST);
  const hidden = Math.min(Math.max(offset, 0), Math.max(0, height - room / ky));
  const unit = (wide - 2 * SIDE) / width(sight);
  return {
    width: wide,
    unit,
    ky,
    top,
    room,
    side: SIDE,
    offset: hidden,
    x: (version) => SIDE + (version - sight.x0) * unit,
    version: (x) => sight.x0 + (x - SIDE) / unit,
    y: (y) => top + (y - hidden) * ky,
  };
}

/**
 * The versions whose lanes are to be asked for, null for all: those in sight are not all here, or
 * could be finer. Undefined if what is here is enough.
 */
export function wantedLanes(
  [begin, end]: Span,
  all: Span,
  here: Span | null,
  { has_rest, isWhole }: { has_rest: boolean; isWhole: boolean },
): Span | null | undefined {
  const margin = Math.ceil((end - begin + 1) / 2);
  const span: Span = [Math.max(all[0], begin - margin), Math.min(all[1], end + margin)];
  const isAll = span[0] <= all[0] && span[1] >= all[1];
  const [first, last] = here ?? all;
  const isMissing = first > begin || last < end;
  const isCoarse = has_rest && last - first + 1 > 1.5 * (span[1] - span[0] + 1);
  const isNarrow = isAll && here && isWhole;
  if (!isMissing && !isCoarse && !isNarrow) return undefined;
  return isAll ? null : span;
}
