// The lanes of branches beside the lines of the log: where each commit is, and what it was made on.

import { canvas, lookOf } from "./canvas";
import { kindColor } from "./legend";
import type { LogAnswer } from "./messages";

export const LINE = 28; // px, the height of a line

const LANE = { left: 12, apart: 14, most: 12, radius: 4.5 }; // px

/** A commit and what it was made on, by their lines and lanes. */
export interface LaneEdge {
  from: number;
  to: number;
  fromLane: number;
  toLane: number;
  /** Whether versions between the two are not shown, or not kept. */
  isBroken: boolean;
}

/** How wide the lanes are, in px. */
export function lanesWidth(lanes: number) {
  return 2 * LANE.left + (Math.min(lanes, LANE.most) - 1) * LANE.apart;
}

/** What leads from a line in sight, to one, or past them all. */
export function edgesInSight(log: Pick<LogAnswer, "parent" | "lane" | "lost">, first: number, last: number) {
  const edges: LaneEdge[] = [];
  for (let from = 0; from <= Math.min(last, log.parent.length - 1); from += 1) {
    const to = log.parent[from];
    if (to < 0 || to < first) continue;
    edges.push({ from, to, fromLane: log.lane[from], toLane: log.lane[to], isBroken: log.lost[from] > 0 });
  }
  return edges;
}

/** The picture: `element`, `setLog(log)`, `scroll(top)` with how far the lines are scrolled, `mark(lines)`, `redraw()`, `close()`. */
export function logLanes() {
  let log: (LogAnswer & { kinds: string[]; num_lanes: number }) | null = null;
  let top = 0;
  const marked = new Set<number>();
  const picture = canvas(10, drawLanes);

  const x = (lane: number) => LANE.left + Math.min(lane, LANE.most - 1) * LANE.apart;
  const y = (line: number) => line * LINE + LINE / 2 - top;

  function drawLanes(context: CanvasRenderingContext2D, _: number, tall: number) {
    if (!log) return;
    const look = lookOf(context.canvas);
    const first = Math.floor(top / LINE);
    const last = Math.min(log.versions.length - 1, Math.ceil((top + tall) / LINE));
    context.lineWidth = 2;
    context.strokeStyle = look.quiet;
    for (const { from, to, fromLane, toLane, isBroken } of edgesInSight(log, first, last)) {
      context.setLineDash(isBroken ? [2, 3] : []);
      context.beginPath();
      // Far outside of what is seen nothing needs to be drawn.
      context.moveTo(x(fromLane), Math.max(y(from), -LINE));
      const end = Math.min(y(to), tall + LINE);
      if (fromLane === toLane) context.lineTo(x(toLane), end);
      else {
        const bend = y(to) - LINE;
        context.lineTo(x(fromLane), Math.min(bend, tall + LINE));
        context.bezierCurveTo(x(fromLane), bend + LINE * 0.7, x(toLane), bend + LINE * 0.3, x(toLane), y(to));
      }
      context.stroke();
    }
    context.setLineDash([]);
    for (let line = first; line <= last; line += 1) {
      context.fillStyle = kindColor(log, log.kind[line]);
      context.globalAlpha = log.is_recorded[line] ? 0.45 : 1;
      context.beginPath();
      context.arc(x(log.lane[line]), y(line), LANE.radius, 0, 2 * Math.PI);
      context.fill();
      context.globalAlpha = 1;
      context.lineWidth = marked.has(line) ? 2.5 : 1.5;
      context.strokeStyle = marked.has(line) ? look.ink : look.paper;
      context.stroke();
    }
  }

  return {
    element: picture.element,
    setLog(newest: LogAnswer & { kinds: string[]; num_lanes: number }) {
      log = newest;
      picture.element.style.width = `${lanesWidth(newest.num_lanes)}px`;
      picture.redraw();
    },
    redraw: picture.redraw,
    /** Draw with the lines scrolled so far. */
    scroll(newTop: number) {
      top = newTop;
      picture.redraw();
    },
    /** Draw rings around some lines. */
    mark(lines: number[]) {
      marked.clear();
      for (const line of lines) marked.add(line);
      picture.redraw();
    },
    close: picture.close,
  };
}
