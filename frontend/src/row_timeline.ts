// The life of one row: a line through the fragments that it was in, with a mark at each event.

import type { ComponentChildren } from "preact";
import type { Look } from "./canvas";
import { canvas, fitting, haloText, lookOf, onTheme } from "./canvas";
import { node, setAttributes } from "./elements";
import { isCommand } from "./keys";
import { KIND_COLORS } from "./kinds";
import type { AxisScale, Commits } from "./lineage_axis";
import { drawLineageTicks } from "./lineage_axis";
import type { PlacedEvent } from "./messages";
import { lifeScale } from "./row_timeline_scale";
import { count, cut } from "./text";
import { tooltip } from "./tooltip";

export interface TimelineMark {
  event: PlacedEvent;
  index: number;
  x: number;
  y: number;
}

export interface TimelineLane {
  key: string;
  fragment: string;
  branch: string | null;
  offsets: Set<string>;
}

interface TimelineScale extends AxisScale {
  last: number;
}

const BESIDE = 0.6; // versions beside the outermost

const TIMELINE = { side: 14, label: 150, lane: 34, lowest: 70, tallest: 420, foot: 34, top: 20 };

/**
 * The timeline: `element`, `setCommits(commits)`, `setEvents(events)`, `choose(index)`,
 * `setVersion(version)`, `close()`. `onChoose(index)` is called when the user chooses an event,
 * `describe(event)` gives what the tooltip says.
 */
export function rowTimeline(
  root: HTMLElement,
  { onChoose, describe }: { onChoose: (index: number) => void; describe: (event: PlacedEvent) => ComponentChildren },
) {
  let commits!: Commits;
  let events: PlacedEvent[] = [];
  let lanes: TimelineLane[] = [];
  let chosen = -1;
  let version: string | null = null;
  let marks: TimelineMark[] = [];
  const picture = canvas(TIMELINE.lowest, draw);
  const tip = tooltip(root);
  const element = node(
    "div",
    { class: "lx-timeline", tabindex: "0", role: "slider", "aria-label": "Event of the row", "aria-valuemin": "0" },
    picture.element,
  );

  function scaleOf(width: number): TimelineScale {
    const happened = events.map((event) => Number(event.version));
    const numbers = commits.count ? [...happened, commits.versions[0], commits.versions[commits.count - 1]] : happened;
    const last = numbers.reduce((most, version) => Math.max(most, version));
    const first = numbers.reduce((least, version) => Math.min(least, version));
    const left = TIMELINE.side + Math.min(TIMELINE.label, width / 4);
    const right = width - TIMELINE.side;
    const { x, version, isLinear } = lifeScale(happened, { first: first - BESIDE, last: last + BESIDE, left, right });
    return {
      width,
      side: left,
      end: TIMELINE.side,
      x,
      version,
      last,
      ticks: isLinear ? undefined : [...happened, last],
    };
  }

  function draw(context: CanvasRenderingContext2D, width: number, height: number) {
    if (!commits || !events.length) return;
    const scale = scaleOf(width);
    const bottom = height - TIMELINE.foot;
    const tall = (bottom - TIMELINE.top) / lanes.length;
    const y = (lane: number) => TIMELINE.top + (lane + 0.5) * tall;
    const look = lookOf(element);
    drawLaneNames(context, lanes, y, tall, scale, look);
    drawVersionLine(context, scale, bottom, look);
    drawLineageTicks(context, commits, scale, bottom, look);
    if (scale.ticks) noteStretch(context, scale, bottom, look);
    marks = placeEvents(scale, y);
    drawLife(context, marks, scale, look);
    for (const mark of marks) drawTimelineMark(context, mark, mark.index === chosen, look);
    nameTimelineMarks(context, marks, chosen, scale, tall, look);
    element.dataset.drawn = String(events.length);
    element.dataset.chosen = chosen < 0 ? "" : events[chosen].version;
    element.dataset.marks = JSON.stringify(marks.map((mark) => [Math.round(mark.x), Math.round(mark.y)]));
  }

  /** The version that is looked at, if it is not that of an event. */
  function drawVersionLine(context: CanvasRenderingContext2D, scale: AxisScale, bottom: number, look: Look) {
    if (version === null) return;
    const x = scale.x(Number(version));
    if (x < scale.side || x > scale.width) return;
    context.fillStyle = look.accent;
    context.globalAlpha = 0.6;
    context.fillRect(x - 0.75, 2, 1.5, bottom - 2);
    context.globalAlpha = 1;
  }

  function placeEvents(scale: AxisScale, y: (lane: number) => number) {
    const place = new Map(lanes.map((lane, i) => [lane.key, i]));
    return events.map((event, index) => ({
      event,
      index,
      x: scale.x(Number(event.version)),
      y: y(place.get(laneKey(event)) ?? 0),
    }));
  }

  const at = ({ clientX, clientY }: MouseEvent) => {
    const box = element.getBoundingClientRect();
    const [x, y] = [clientX - box.left, clientY - box.top];
    const near = marks
      .map((mark) => ({ mark, far: Math.hypot(mark.x - x, mark.y - y) }))
      .sort((a, b) => a.far - b.far)[0];
    return near && near.far < 14 ? near.mark : null;
  };
  element.addEventListener("pointermove", (event) => {
    const mark = at(event);
    element.style.setProperty("cursor", mark ? "pointer" : "default");
    if (mark) tip.show(event, describe(mark.event));
    else tip.hide();
  });
  element.addEventListener("pointerleave", () => tip.hide());
  element.addEventListener("click", (event) => {
    element.focus();
    const mark = at(event);
    if (mark) onChoose(mark.index);
  });
  element.addEventListener("keydown", (event) => {
    if (isCommand(event) || !events.length) return;
    const targets: Record<string, number> = {
      ArrowLeft: chosen - 1,
      ArrowUp: chosen - 1,
      ArrowRight: chosen + 1,
      ArrowDown: chosen + 1,
      Home: 0,
      End: events.length - 1,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    event.stopPropagation();
    onChoose(Math.min(Math.max(targets[event.key], 0), events.length - 1));
  });
  const stopTheme = onTheme(() => picture.redraw());

  return {
    element,
    setCommits(newest: Commits) {
      commits = newest;
      picture.redraw();
    },
    setEvents(newest: PlacedEvent[]) {
      events = newest;
      lanes = timelineLanes(events);
      const tall = Math.min(Math.max(lanes.length * TIMELINE.lane, TIMELINE.lowest), TIMELINE.tallest);
      picture.element.style.height = `${tall + TIMELINE.top + TIMELINE.foot}px`;
      element.hidden = !events.length;
      delete element.dataset.drawn;
      picture.redraw();
    },
    choose(index: number) {
      chosen = index;
      const event = events[index];
      setAttributes(element, {
        "aria-valuemax": Math.max(0, events.length - 1),
        "aria-valuenow": Math.max(0, index),
        "aria-valuetext": event ? `version ${event.version}, ${event.event}` : "none",
      });
      picture.redraw();
    },
    setVersion(newest: string | null) {
      version = newest;
      picture.redraw();
    },
    close() {
      stopTheme();
      picture.close();
    },
  };
}

function laneKey(event: PlacedEvent) {
  return `${event.branch ?? ""}/${event.fragment_id}`;
}

/** The fragments that the row was in, in the order of its coming. */
function timelineLanes(events: PlacedEvent[]) {
  const lanes = new Map();
  for (const event of events) {
    const key = laneKey(event);
    if (!lanes.has(key)) lanes.set(key, { key, fragment: event.fragment_id, branch: event.branch, offsets: new Set() });
    lanes.get(key).offsets.add(event.offset);
  }
  return [...lanes.values()];
}

function drawLaneNames(
  context: CanvasRenderingContext2D,
  lanes: TimelineLane[],
  y: (lane: number) => number,
  tall: number,
  scale: AxisScale,
  look: Look,
) {
  context.textAlign = "right";
  context.textBaseline = "middle";
  const step = Math.ceil(15 / tall);
  for (const [i, lane] of lanes.entries()) {
    if (i % step) continue;
    context.fillStyle = look.line;
    context.globalAlpha = 0.6;
    context.fillRect(scale.side, y(i), scale.width - scale.side, 1);
    context.globalAlpha = 1;
    const branch = lane.branch ? `${cut(lane.branch, 12)}: ` : "";
    const offset = lane.offsets.size === 1 ? `, offset ${count([...lane.offsets][0])}` : "";
    context.font = look.font;
    context.fillStyle = look.ink;
    const id = count(lane.fragment);
    context.fillText(
      fitting(context, [`${branch}fragment ${id}${offset}`, `${branch}fragment ${id}`, id], scale.side - 18),
      scale.side - 14, // beside a mark at the beginning
      y(i),
    );
  }
}

/** Say that versions are not as far apart as their numbers are. */
function noteStretch(context: CanvasRenderingContext2D, scale: AxisScale, bottom: number, look: Look) {
  context.font = look.font;
  context.fillStyle = look.quiet;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText("not to scale", scale.side - 14, bottom + 12);
}

/** The line from event to event: thick where the row lived, dotted where it was gone. */
function drawLife(context: CanvasRenderingContext2D, marks: TimelineMark[], scale: TimelineScale, look: Look) {
  const [life, gone] = [new Path2D(), new Path2D()];
  for (const [i, mark] of marks.entries()) {
    const next = marks[i + 1];
    const line = mark.event.is_end ? gone : life;
    if (mark.event.is_end && !next) continue;
    const end = next ? next.x : scale.x(scale.last) + 6;
    line.moveTo(mark.x, mark.y);
    if (!next || next.y === mark.y) line.lineTo(end, next?.y ?? mark.y);
    else {
      const turn = Math.max(mark.x, end - Math.min(40, (end - mark.x) * 0.8));
      line.lineTo(turn, mark.y);
      line.bezierCurveTo((turn + end) / 2, mark.y, (turn + end) / 2, next.y, end, next.y);
    }
  }
  context.strokeStyle = look.ink;
  context.lineWidth = 2.5;
  context.stroke(life);
  context.lineWidth = 2;
  context.setLineDash([1, 5]);
  context.lineCap = "round";
  context.stroke(gone);
  context.setLineDash([]);
  context.lineCap = "butt";
}

function drawTimelineMark(
  context: CanvasRenderingContext2D,
  { x, y, event }: TimelineMark,
  isChosen: boolean,
  look: Look,
) {
  const size = isChosen ? 9 : 6.5;
  context.beginPath();
  if (event.is_end) context.roundRect(x - size, y - size, 2 * size, 2 * size, 2);
  else context.arc(x, y, size, 0, 2 * Math.PI);
  context.fillStyle = KIND_COLORS[event.kind];
  context.fill();
  context.lineWidth = isChosen ? 3 : 2;
  context.strokeStyle = isChosen ? look.ink : look.paper;
  context.stroke();
  if (!event.is_recorded) return;
  context.beginPath(); // hollow: known from a ledger alone
  context.arc(x, y, size / 2, 0, 2 * Math.PI);
  context.fillStyle = look.paper;
  context.fill();
}

/** Say above or below the marks what happened: first at the chosen one, then where there is room. */
function nameTimelineMarks(
  context: CanvasRenderingContext2D,
  marks: TimelineMark[],
  chosen: number,
  scale: AxisScale,
  tall: number,
  look: Look,
) {
  context.textAlign = "center";
  context.textBaseline = "middle";
  const taken: [number, number, number][] = [];
  const order = [...marks].sort((a, b) => Number(b.index === chosen) - Number(a.index === chosen) || a.index - b.index);
  for (const { x, y, event, index } of order) {
    context.font = index === chosen ? look.bold : look.font;
    const half = context.measureText(event.event).width / 2 + 4;
    const at = Math.min(Math.max(x, half), scale.width - half);
    const far = index === chosen ? 18 : 15;
    const places = tall < 30 ? [y - far] : [y - far, y + far];
    const place = places.find(
      (height) =>
        !taken.some(([left, right, other]) => at - half < right && at + half > left && Math.abs(other - height) < 14),
    );
    if (place === undefined) continue;
    taken.push([at - half, at + half, place]);
    haloText(context, event.event, at, place, look.ink, look.paper);
  }
}
