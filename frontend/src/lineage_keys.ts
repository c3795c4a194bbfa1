// Where keys lead in a lineage picture: to other versions in sight, another version, another lane.

import { isCommand, stepOf } from "./keys";
import type { Commits } from "./lineage_axis";
import { isRest, type Layout } from "./lineage_drawing";
import { moved, type Sight, width, zoomed } from "./lineage_span";

const ZOOM = 1.5;

const SCROLLED = 40; // px

interface KeyActions {
  /** Whether there is a picture yet. */
  isReady: () => boolean;
  /** What a key leads to, if it changes what is in sight. */
  sightAfter: (key: string) => Sight | undefined;
  onSight: (sight: Sight) => void;
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
    const sight = actions.sightAfter(key);
    if (along && shiftKey) actions.onVersion(along);
    else if (down && shiftKey) actions.onLane(down);
    else if (down) actions.onScroll(down * SCROLLED);
    else if (sight) actions.onSight(sight);
    else if (key === "Escape") actions.onEscape();
    else return;
    event.preventDefault();
    event.stopPropagation();
    actions.onDone();
  });
}

/** What is in sight after a key, undefined for one that does not change it; it may be beyond the whole. */
export function sightAfter(key: string, sight: Sight, whole: Sight): Sight | undefined {
  const wide = width(sight);
  const sights: Record<string, Sight> = {
    ArrowLeft: moved(sight, -wide / 8),
    ArrowRight: moved(sight, wide / 8),
    PageUp: moved(sight, -wide * 0.8),
    PageDown: moved(sight, wide * 0.8),
    Home: moved(sight, whole.x0 - sight.x0),
    End: moved(sight, whole.x1 - sight.x1),
    "+": zoomed(sight, ZOOM),
    "=": zoomed(sight, ZOOM),
    "-": zoomed(sight, 1 / ZOOM),
    0: whole,
  };
  return sights[key];
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
