// Where keys lead in a lineage picture: to other versions in sight, another version, another lane.

import { isCommand, stepOf } from "./keys";
import type { Commits } from "./lineage_axis";
import { isRest, type Layout } from "./lineage_drawing";
import { type Sight, width } from "./lineage_span";

/** By how much keys zoom; 0 shows everything. */
const ZOOMS = { "+": 1.5, "=": 1.5, "-": 1 / 1.5, 0: 0 };

const SCROLLED = 40; // px

interface KeyActions {
  /** Whether there is a picture yet. */
  isReady: () => boolean;
  /** How many versions a key moves by, undefined for one that does not. */
  distance: (key: string) => number | undefined;
  onMove: (versions: number) => void;
  /** What is in sight becomes so many times as large; 0 shows everything. */
  onZoom: (factor: number) => void;
  onScroll: (pixels: number) => void;
  onVersion: (step: number) => void;
  onLane: (step: number) => void;
  onEscape: () => void;
  /** After one of these. */
  onDone: () => void;
}

/** Tell what keys ask for while an element has the focus. */
export function watchKeys(element: HTMLElement, actions: KeyActions) {
  element.addEventListener("keydown", (event) => {
    if (isCommand(event) || !actions.isReady() || event.target !== element) return;
    const { key, shiftKey } = event;
    const along = stepOf(key, { ArrowLeft: -1, ArrowRight: 1 });
    const down = stepOf(key, { ArrowUp: -1, ArrowDown: 1 });
    const distance = actions.distance(key);
    const factor = stepOf(key, ZOOMS);
    if (along && shiftKey) actions.onVersion(along);
    else if (down && shiftKey) actions.onLane(down);
    else if (down) actions.onScroll(down * SCROLLED);
    else if (distance !== undefined) actions.onMove(distance);
    else if (factor !== undefined) actions.onZoom(factor);
    else if (key === "Escape") actions.onEscape();
    else return;
    event.preventDefault();
    event.stopPropagation();
    actions.onDone();
  });
}

/** How many versions a key moves by, undefined for one that does not; it may be beyond the whole. */
export function distanceOf(key: string, sight: Sight, whole: Sight) {
  const [wide, all] = [width(sight), width(whole)];
  return stepOf(key, {
    ArrowLeft: -wide / 8,
    ArrowRight: wide / 8,
    PageUp: -wide * 0.8,
    PageDown: wide * 0.8,
    Home: -all,
    End: all,
  });
}

/** The version that is `step` commits further, of those that were not inherited; null if there is none. */
export function nextVersion(
  commits: Pick<Commits, "versions" | "count" | "numInherited" | "nearest">,
  version: string | null,
  step: number,
) {
  const { versions, count, numInherited } = commits;
  const now = version === null ? count - 1 : commits.nearest(Number(version));
  const next = Math.min(Math.max(now + step, numInherited), count - 1);
  return next < numInherited ? null : versions[next];
}

/** The node of the next lane up or down among those that are there at a version, null if none is. */
export function nextLane(
  { lanes, lane_x0, lane_x1, lane_y, selected }: Pick<Layout, "lanes" | "lane_x0" | "lane_x1" | "lane_y" | "selected">,
  version: number,
  step: number,
) {
  const crossed = [...lanes.keys()]
    .filter((i) => !isRest(lanes[i]) && lane_x0[i] <= version && lane_x1[i] >= version)
    .sort((a, b) => lane_y[a] - lane_y[b]);
  if (!crossed.length) return null;
  const [now, last] = [crossed.indexOf(selected?.lane ?? -1), crossed.length - 1];
  const next = now < 0 ? (step > 0 ? 0 : last) : Math.min(Math.max(now + step, 0), last);
  return lanes[crossed[next]].node;
}
