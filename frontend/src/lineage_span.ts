// Which versions of a lineage picture are in sight, how large they are drawn, and which are asked for.

import type { ZoomTransform } from "d3-zoom";
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

/** The least that is in sight, in versions. */
export const FEWEST = 3;

const BESIDE = 0.4; // versions, beside the outermost

const FLATTEST = 0.45; // of their height, where lanes do not all fit

/** What shows some versions whole. */
export function sightOf(begin: number, end: number): Sight {
  return { x0: begin - BESIDE, x1: end + BESIDE };
}

export function width({ x0, x1 }: Sight) {
  return x1 - x0;
}

/** What is in sight of a picture of all, enlarged by `k` and moved by `x`, as d3-zoom has it. */
export function sightUnder({ k, x }: Pick<ZoomTransform, "k" | "x">, whole: Sight, wide: number): Sight {
  const x0 = whole.x0 + ((SIDE - x) / k - SIDE) / unitOf(whole, wide);
  return { x0, x1: x0 + width(whole) / k };
}

/** How much a picture of all is enlarged, within limits, and moved until some of it is in the middle. */
export function enlarged(sight: Sight, whole: Sight, wide: number, [least, most]: [number, number]) {
  const k = Math.min(Math.max(width(whole) / width(sight), least), most);
  const middle = SIDE + ((sight.x0 + sight.x1) / 2 - whole.x0) * unitOf(whole, wide);
  return { k, x: wide / 2 - k * middle };
}

/** How wide a version is, in px. */
export function unitOf(sight: Sight, wide: number) {
  return (wide - 2 * SIDE) / width(sight);
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
  const unit = unitOf(sight, wide);
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
