// The two layers of a lineage picture: commits, lanes and ribbons; and on them what is pointed at and chosen.

import type { Look } from "./canvas";
import type { Commits } from "./lineage_axis";
import { AXIS, drawLineageCommits, drawLineageTags, drawLineageTicks } from "./lineage_axis";
import type { InLineage, LaneScale, Layout } from "./lineage_drawing";
import {
  drawLaneLabels,
  drawLanes,
  drawRewrites,
  drawRibbons,
  drawRowNames,
  drawRowPath,
  findInLineage,
  laneShape,
  placeRowNames,
} from "./lineage_drawing";
import { count } from "./text";

const HEAD = { top: 4, gap: 8, tagRows: 2 };

const [LOWEST, TALLEST] = [90, 540]; // px, of the lanes

function tagRows({ tags }: Commits) {
  return Math.min(HEAD.tagRows, tags.length);
}

/** How tall what stands above the lanes is, in px. */
export function headHeight(commits: Commits) {
  return HEAD.top + tagRows(commits) * AXIS.tag + AXIS.names + AXIS.marks + HEAD.gap;
}

/** How tall the picture is, in px. */
export function pictureHeight(layout: Layout, commits: Commits) {
  return Math.min(Math.max(layout.height, LOWEST), TALLEST) + headHeight(commits) + AXIS.foot + 4;
}

export function paintBack(
  context: CanvasRenderingContext2D,
  layout: Layout,
  commits: Commits,
  scale: LaneScale,
  look: Look,
) {
  const bottom = scale.top + scale.room;
  const rows = tagRows(commits);
  drawLineageTags(context, commits, scale, rows, bottom, look);
  drawLineageCommits(context, commits, scale, HEAD.top + rows * AXIS.tag, look);
  context.save();
  clipToLanes(context, scale);
  if (layout.lanes.length) {
    drawRibbons(context, layout, scale);
    drawLanes(context, layout, scale, look);
    drawRewrites(context, layout, scale);
    const rowNames = placeRowNames(context, layout, scale, look);
    drawRowPath(context, layout, scale, look);
    drawLaneLabels(context, layout, scale, rowNames, look);
    drawRowNames(context, rowNames, look);
  } else drawNoLanes(context, scale, look);
  context.restore();
  drawLineageTicks(context, commits, scale, bottom, look);
  drawMoreBelow(context, layout, scale, look);
}

function clipToLanes(context: CanvasRenderingContext2D, { width, top, room }: LaneScale) {
  context.beginPath();
  context.rect(0, top - 2, width, room + 2);
  context.clip();
}

function drawNoLanes(context: CanvasRenderingContext2D, { width, top, room }: LaneScale, look: Look) {
  context.font = look.font;
  context.fillStyle = look.quiet;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText("No fragments: every version of the table is empty", width / 2, top + room / 2);
}

/** A thin bar at the right where lanes do not all fit. */
function drawMoreBelow(context: CanvasRenderingContext2D, { height }: Layout, scale: LaneScale, look: Look) {
  const { width, top, room, ky, offset } = scale;
  const seen = room / (height * ky);
  if (seen >= 1) return;
  context.fillStyle = look.quiet;
  context.globalAlpha = 0.5;
  context.beginPath();
  context.roundRect(width - 5, top + (offset / height) * room, 4, Math.max(20, seen * room), 2);
  context.fill();
  context.globalAlpha = 1;
}

/** Outline the lane that is pointed at and the selected one, and mark the version. */
export function paintFront(
  context: CanvasRenderingContext2D,
  layout: Layout,
  scale: LaneScale,
  { pointed, version }: { pointed: InLineage | null; version: string | null },
  look: Look,
) {
  const outline = (lane: number, thick: number) => {
    context.save();
    clipToLanes(context, scale);
    context.strokeStyle = look.ink;
    context.lineWidth = thick;
    context.stroke(laneShape(layout, scale, lane));
    context.restore();
  };
  if (pointed?.what === "lane" && pointed.index < layout.lanes.length) outline(pointed.index, 1.5);
  const selected = layout.selected?.lane;
  if (selected !== null && selected !== undefined) outline(selected, 2);
  if (version !== null) drawCursor(context, version, scale, look);
}

function drawCursor(context: CanvasRenderingContext2D, version: string, scale: LaneScale, look: Look) {
  const { width, top, room } = scale;
  const x = scale.x(Number(version));
  if (x < 0 || x > width) return;
  const bottom = top + room;
  context.fillStyle = look.accent;
  context.globalAlpha = 0.75;
  context.fillRect(x - 0.75, top - HEAD.gap, 1.5, room + HEAD.gap);
  context.globalAlpha = 1;
  context.font = look.bold;
  const label = count(version);
  const half = context.measureText(label).width / 2 + 6;
  const at = Math.min(Math.max(x, half), width - half);
  context.beginPath();
  context.roundRect(at - half, bottom + 3, 2 * half, 17, 4);
  context.fill();
  context.fillStyle = look.paper;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(label, at, bottom + 12);
}

/** What is at a place: a lane, ribbon, event or rewrite; or the commit above or below them. */
export function findInPicture(
  layout: Layout,
  commits: Commits,
  scale: LaneScale,
  x: number,
  y: number,
): InLineage | null {
  if (y >= scale.top && y <= scale.top + scale.room) return findInLineage(layout, scale, x, y);
  const p = commits.nearest(scale.version(x));
  return p < 0 || Math.abs(scale.x(commits.versions[p]) - x) > Math.max(8, scale.unit / 2)
    ? null
    : { what: "commit", index: p };
}
