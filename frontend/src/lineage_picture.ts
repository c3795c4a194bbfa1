// The picture to move about in: which versions are in sight, what is pointed at, clicked and typed.

import type { ComponentChildren } from "preact";
import { canvas, lookOf, onTheme } from "./canvas";
import { node } from "./elements";
import { AXIS, type Commits } from "./lineage_axis";
import { type InLineage, isRest, type LaneScale, type Layout } from "./lineage_drawing";
import { movedAbout } from "./lineage_gestures";
import { distanceOf, nextLane, nextVersion, watchKeys } from "./lineage_keys";
import { findInPicture, headHeight, paintBack, paintFront, pictureHeight } from "./lineage_paint";
import { laneScale, SIDE, sightOf, versionsIn } from "./lineage_span";
import { pictureWords } from "./lineage_words";
import { tooltip } from "./tooltip";

interface PictureActions {
  /** Other versions are in sight. */
  onView: () => void;
  onSelect: (lane: string | null) => void;
  onVersion: (version: string) => void;
  /** What the tooltip says. */
  describe: (found: InLineage, layout: Layout, commits: Commits) => ComponentChildren;
}

/**
 * The picture: `element`, `setCommits(commits, begin, end)`, `setLayout(layout)`,
 * `setVersion(version)`, `show(begin, end)`, `fit()`, `zoom(factor)`, `span()`, `isWhole()`, `close()`.
 */
export function lineagePicture(root: HTMLElement, { onView, onSelect, onVersion, describe }: PictureActions) {
  let commits!: Commits;
  let layout!: Layout;
  let offset = 0; // how much of the lanes is above what is in sight
  let version: string | null = null;
  let pointed: InLineage | null = null;
  let scale!: LaneScale;
  const back = canvas(200, drawBack);
  const front = canvas(200, drawFront);
  const tip = tooltip(root);
  const element = node(
    "div",
    { class: "lx-lineage", tabindex: "0", role: "group", "aria-roledescription": "lineage picture" },
    back.element,
    front.element,
  );

  function drawBack(context: CanvasRenderingContext2D, width: number, height: number) {
    if (!layout) return;
    view.setWidth(width);
    const sight = view.sight();
    const top = headHeight(commits);
    scale = laneScale(sight, { height: layout.height, offset }, { width, top, room: height - top - AXIS.foot });
    offset = scale.offset;
    paintBack(context, layout, commits, scale, lookOf(element));
    const { unit, ky } = scale;
    Object.assign(element.dataset, {
      // What it takes to find a version and a height in the picture.
      scale: JSON.stringify({ left: SIDE, x0: sight.x0, unit, top, ky, offset }),
      drawn: `${layout.begin}-${layout.end}`,
      lanes: String(layout.lanes.length),
      selected: layout.selected?.node ?? "",
      row: layout.row?.row_id ?? "",
    });
    front.redraw();
  }

  function drawFront(context: CanvasRenderingContext2D) {
    if (!scale || !layout) return;
    paintFront(context, layout, scale, { pointed, version }, lookOf(element));
    element.dataset.version = version ?? "";
  }

  /** Other versions are in sight, or lanes so far down, in px. */
  function move(down: number) {
    if (scale) offset -= down / scale.ky;
    tip.hide();
    back.redraw();
    onView();
  }

  // --- pointer

  const find = (x: number, y: number) => (scale && layout ? findInPicture(layout, commits, scale, x, y) : null);

  function point(event: PointerEvent, x: number, y: number) {
    const found = find(x, y);
    const changed = found?.what !== pointed?.what || found?.index !== pointed?.index;
    pointed = found;
    element.style.setProperty("cursor", found ? "pointer" : "grab");
    if (found) tip.show(event, describe(found, layout, commits));
    else tip.hide();
    if (changed) front.redraw();
  }

  function click(x: number, y: number) {
    const found = find(x, y);
    if (found?.what === "lane") {
      const isSame = layout.selected?.lane === found.index;
      const lane = layout.lanes[found.index];
      onSelect(isSame || isRest(lane) ? null : lane.node);
    } else if (found?.what === "commit" && found.index >= commits.numInherited)
      onVersion(String(commits.versions[found.index]));
    else if (found?.what === "event") onVersion(String(found.mark.version));
    else if (!found && layout.selected) onSelect(null);
  }

  const view = movedAbout(element, {
    isReady: () => Boolean(scale),
    isFree: (x, y) => find(x, y)?.what !== "lane",
    onMove: move,
    onPoint: point,
    onLeave: () => {
      tip.hide();
      pointed = null;
      front.redraw();
    },
    onClick: click,
  });

  // --- keyboard

  function stepVersion(step: number) {
    const target = nextVersion(commits, version, step);
    if (target === null) return;
    const { x0, x1 } = view.sight();
    if (target < x0 || target > x1) view.move(target - (x0 + x1) / 2);
    onVersion(String(target));
  }

  function stepLane(step: number) {
    const lane = nextLane(layout, version === null ? view.sight().x1 : Number(version), step);
    if (lane !== null) onSelect(lane);
  }

  watchKeys(element, {
    isReady: () => Boolean(scale),
    distance: (key) => distanceOf(key, view.sight(), view.whole()),
    onMove: view.move,
    onZoom: (factor) => (factor ? view.zoom(factor) : view.show(view.whole())),
    onScroll: (pixels) => move(-pixels),
    onVersion: stepVersion,
    onLane: stepLane,
    onEscape: () => onSelect(null),
    onDone: tip.hide,
  });
  const stopTheme = onTheme(() => back.redraw());

  return {
    element,
    isWhole: view.isWhole,
    setCommits(newest: Commits, begin: number, end: number) {
      commits = newest;
      view.setWhole(sightOf(begin, end), Boolean(layout) && !view.isWhole());
    },
    setLayout(newest: Layout) {
      const isFirst = !layout;
      layout = newest;
      pointed = null;
      if (isFirst || view.isWhole()) {
        const height = `${pictureHeight(layout, commits)}px`;
        for (const sized of [element, back.element, front.element]) sized.style.height = height;
      }
      element.setAttribute("aria-label", pictureWords(layout));
      back.redraw();
    },
    setVersion(newest: string | null) {
      version = newest;
      front.redraw();
    },
    /** The versions in sight, whole ones. */
    span: () => versionsIn(view.sight(), view.whole()),
    show: (begin: number, end: number) => view.show(sightOf(begin, end)),
    fit: () => view.show(view.whole()),
    zoom: (factor: number) => scale && view.zoom(factor),
    close() {
      stopTheme();
      back.close();
      front.close();
    },
  };
}
