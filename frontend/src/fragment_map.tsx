// The fragments of one version side by side, each as wide as its rows: live ones in the colour of
// what made the fragment, deleted ones hatched above; new, changed and removed ones are marked.

import { type ComponentChildren, render } from "preact";
import type { Look } from "./canvas";
import { canvas, canvasFont, fitting, lookOf, onTheme, textOn } from "./canvas";
import { node, setAttributes } from "./elements";
import type { History } from "./history";
import { kindColor, legendEntry, swatch } from "./legend";
import { bytes, count, percent, plural, visible } from "./text";
import { tooltip } from "./tooltip";

interface MapActions {
  onSelect: (id: string | null) => void;
  actions?: (id: string) => ComponentChildren;
}

export type MapMark = "new" | "changed" | "removed";

/** A state of a fragment: where it is in the arrays of the history, and what is new about it. */
export interface MapState {
  index: number;
  mark: MapMark | null;
}

/** A fragment as a bar, or several where they are many. */
export interface MapBar {
  members: MapState[];
  rows: number;
  x: number;
  width: number;
  /** Where its live rows end, from above. */
  top: number;
}

const MAP = { tall: 132, marks: 16, narrowest: 2, label: 44 };

const MARKS: Record<MapMark, string> = { new: "▲", changed: "●", removed: "✕" };

/**
 * Return the states of fragments at a position, with the removed ones, in the order of their IDs:
 * the index of each in the arrays of the history, and its mark (new, changed, removed or null).
 */
export function statesAt(history: History, position: number) {
  const { state_slot: slot, state_first: first, state_last: last, state_made_at: madeAt } = history;
  const found: MapState[] = [];
  for (let i = 0; i < slot.length; i += 1) {
    if (first[i] > position || last[i] < position - 1) continue;
    if (last[i] === position - 1) {
      const next = i + 1;
      const goesOn =
        next < slot.length && slot[next] === slot[i] && first[next] === position && madeAt[next] !== position;
      if (!goesOn) found.push({ index: i, mark: "removed" });
      continue;
    }
    let mark: MapMark | null = null;
    if (first[i] === position && position > 0) {
      const before = i > 0 && slot[i - 1] === slot[i] && last[i - 1] === position - 1;
      mark = before && madeAt[i] !== position ? "changed" : "new";
    }
    found.push({ index: i, mark });
  }
  return found;
}

/**
 * Return fragments as bars with their places: one each, or one for several where they are many.
 * fragment_columns.py lays out the same for figures.
 */
export function mapBars(history: History, states: MapState[], width: number) {
  const most = Math.max(1, Math.floor(width / MAP.narrowest));
  const step = Math.ceil(states.length / most) || 1;
  const bars: MapBar[] = [];
  for (let begin = 0; begin < states.length; begin += step) {
    const members = states.slice(begin, begin + step);
    const rows = members.reduce((sum, { index }) => sum + (history.state_rows[index] || 0), 0);
    bars.push({ members, rows, x: 0, width: 0, top: 0 });
  }
  const gap = bars.length > width / 5 ? 0 : bars.length > width / 12 ? 1 : 2;
  const total = bars.reduce((sum, { rows }) => sum + rows, 0);
  const spare = width - bars.length * (MAP.narrowest + gap) + gap;
  let x = 0;
  for (const bar of bars) {
    const wide = MAP.narrowest + (total ? (spare * bar.rows) / total : spare / bars.length);
    bar.x = Math.round(x);
    bar.width = Math.max(1, Math.round(x + wide) - bar.x);
    x += wide + gap;
  }
  return { bars, step };
}

/**
 * The map: `element`, `setHistory(history)`, `show(position, fragmentId)`, `close()`. `onSelect(id)`
 * is called with the ID of a fragment as text, or null; `actions(id)` gives buttons for the selected one.
 */
export function fragmentMap(root: HTMLElement, { onSelect, actions = () => null }: MapActions) {
  let history!: History;
  let position = -1;
  let selected: string | null = null;
  let states: MapState[] = [];
  let bars: MapBar[] = [];
  const picture = canvas(MAP.tall + MAP.marks, draw);
  const tip = tooltip(root);
  const note = node("span", { class: "lx-quiet" });
  const entries = node("span", { class: "lx-held" });
  const legend = node("div", { class: "lx-legend" }, entries, note);
  const chosen = node("div", { class: "lx-chosen-fragment", hidden: true });
  const element = node("div", { class: "lx-map" }, picture.element, legend, chosen);
  setAttributes(picture.element, { role: "img", tabindex: "0" });

  function draw(context: CanvasRenderingContext2D, width: number) {
    if (!history?.count) return;
    const layout = mapBars(history, states, width);
    bars = layout.bars;
    const look = { ...lookOf(picture.element), bold: canvasFont(picture.element, 600, 12) };
    if (!bars.length) drawNothing(context, width, look);
    const deleted = new Path2D();
    for (const bar of bars) drawBar(context, history, bar, deleted, look);
    hatch(context, deleted, width, look.quiet);
    if (layout.step === 1) for (const bar of bars) drawLabel(context, history, bar, look);
    drawMarks(context, bars, look);
    for (const bar of bars) {
      if (bar.members.some(({ index }) => String(history.state_fragment[index]) === selected))
        outline(context, bar, look.ink);
    }
    const shown =
      layout.step > 1
        ? `${plural(states.length, "fragment")} as ${plural(bars.length, "bar")}, up to ${count(layout.step)} each`
        : "";
    if (note.textContent !== shown) note.textContent = shown;
    element.dataset.drawn = String(history.versions[position]);
    element.dataset.bars = String(bars.length);
  }

  function at(event: MouseEvent) {
    const x = event.clientX - picture.element.getBoundingClientRect().left;
    return bars.findLast((bar) => bar.x <= x);
  }

  function select(id: string | null) {
    if (id !== selected) onSelect(id);
  }

  picture.element.addEventListener("pointermove", (event) => {
    const bar = at(event);
    if (bar) tip.show(event, describeBar(history, bar));
    else tip.hide();
  });
  picture.element.addEventListener("pointerleave", () => tip.hide());
  picture.element.addEventListener("click", (event) => {
    const bar = at(event);
    if (!bar) return;
    const id = String(history.state_fragment[bar.members[0].index]);
    select(id === selected ? null : id);
  });
  picture.element.addEventListener("keydown", (event) => {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
    if (event.key === "Escape") select(null);
    else if (event.key in steps && states.length) {
      const now = states.findIndex(({ index }) => String(history.state_fragment[index]) === selected);
      const next = now < 0 ? 0 : Math.min(Math.max(now + steps[event.key], 0), states.length - 1);
      select(String(history.state_fragment[states[next].index]));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const stopTheme = onTheme(() => picture.redraw());

  return {
    element,
    setHistory(newest: History) {
      history = newest;
      position = -1;
    },
    show(newest: number, fragmentId: string | null) {
      if (newest !== position) states = statesAt(history, newest);
      [position, selected] = [newest, fragmentId];
      setAttributes(picture.element, {
        "aria-label": `${plural(states.filter(({ mark }) => mark !== "removed").length, "fragment")}; arrow keys select one`,
      });
      render(mapLegend(history, states), entries);
      const state = states.find(({ index }) => String(history.state_fragment[index]) === selected);
      chosen.hidden = !selected;
      render(selected && chosenFragment(selected, state), chosen);
      picture.redraw();
    },
    close() {
      stopTheme();
      picture.close();
    },
  };

  function chosenFragment(id: string, state: MapState | undefined) {
    const [title, ...lines] = state
      ? describeState(history, state)
      : [<strong>Fragment {count(id)}</strong>, "is not in this version."];
    return (
      <>
        <span>
          {title}
          {lines.map((line) => [state ? " · " : " ", line])}
        </span>
        <span class="lx-toolbar">
          {actions(id)}
          <button class="lx-button lx-small" onClick={() => select(null)} title="Select no fragment">
            Clear
          </button>
        </span>
      </>
    );
  }
}

function drawNothing(context: CanvasRenderingContext2D, width: number, look: Look) {
  context.strokeStyle = look.line;
  context.setLineDash([4, 4]);
  context.strokeRect(0.5, 0.5, width - 1, MAP.tall - 1);
  context.setLineDash([]);
  context.font = look.font;
  context.fillStyle = look.quiet;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText("No fragments: the table is empty here", width / 2, MAP.tall / 2);
}

function drawBar(context: CanvasRenderingContext2D, history: History, bar: MapBar, deleted: Path2D, look: Look) {
  const there = bar.members.filter(({ mark }) => mark !== "removed");
  if (!there.length) drawGone(context, bar, look);
  else drawLive(context, history, bar, there, deleted);
}

function drawGone(context: CanvasRenderingContext2D, bar: MapBar, look: Look) {
  context.strokeStyle = look.quiet;
  context.lineWidth = 1;
  context.setLineDash([3, 3]);
  context.strokeRect(bar.x + 0.5, 0.5, Math.max(1, bar.width - 1), MAP.tall - 1);
  context.setLineDash([]);
}

/** Live rows from the bottom up by what made them; the place above them is for deleted ones. */
function drawLive(
  context: CanvasRenderingContext2D,
  history: History,
  bar: MapBar,
  there: MapState[],
  deleted: Path2D,
) {
  let y = MAP.tall;
  for (const [kind, share] of liveShares(history, there)) {
    const tall = MAP.tall * share;
    context.fillStyle = kindColor(history, kind);
    context.fillRect(bar.x, y - tall, bar.width, tall);
    y -= tall;
  }
  bar.top = y;
  if (y > 0.5) deleted.rect(bar.x, 0, bar.width, y);
}

/** Return which part of the rows of fragments is live, by what made them. */
export function liveShares(history: History, there: MapState[]): [number, number][] {
  const live = new Map<number, number>();
  let all = 0;
  for (const { index } of there) {
    const rows = history.state_rows[index] || 0;
    const kept = rows - (history.state_deleted[index] || 0);
    live.set(history.state_kind[index], (live.get(history.state_kind[index]) ?? 0) + kept);
    all += rows;
  }
  return [...live]
    .sort(([a], [b]) => a - b)
    .map(([kind, rows]): [number, number] => [kind, all ? rows / all : 1 / live.size]);
}

/** The ID and the rows of a fragment, if there is room for them. */
function drawLabel(context: CanvasRenderingContext2D, history: History, bar: MapBar, look: Look) {
  const [{ index, mark }] = bar.members;
  if (mark === "removed" || bar.width < MAP.label) return;
  const { top } = bar;
  const rows = history.state_rows[index];
  const live = rows - (history.state_deleted[index] || 0);
  const inside = MAP.tall - top > 40;
  context.save();
  context.beginPath();
  context.rect(bar.x, 0, bar.width, MAP.tall);
  context.clip();
  context.fillStyle = inside ? textOn(kindColor(history, history.state_kind[index])) : look.ink;
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  const bottom = inside ? MAP.tall - 8 : top - 8;
  context.font = look.bold;
  const id = count(history.state_fragment[index]);
  context.fillText(fitting(context, [`fragment ${id}`, id], bar.width - 10), bar.x + 7, bottom - 15);
  context.font = look.font;
  const texts = Number.isNaN(live) ? ["unknown rows", "?"] : [plural(live, "row"), count(live)];
  context.fillText(fitting(context, texts, bar.width - 10), bar.x + 7, bottom);
  context.restore();
}

/** Say below the bars what is new, changed or removed: in words, with a sign, or else with a tick. */
function drawMarks(context: CanvasRenderingContext2D, bars: MapBar[], look: Look) {
  context.fillStyle = look.ink;
  context.font = look.font;
  context.textBaseline = "middle";
  context.textAlign = "center";
  let free = 0;
  for (const bar of bars) {
    const mark = (["new", "changed", "removed"] as const).find((name) =>
      bar.members.some((member) => member.mark === name),
    );
    if (!mark) continue;
    const label = `${MARKS[mark]} ${mark}`;
    const text = context.measureText(label).width + 4 <= bar.width ? label : MARKS[mark];
    const half = context.measureText(text).width / 2;
    const center = Math.min(Math.max(bar.x + bar.width / 2, half), context.canvas.clientWidth - half);
    if (center - half < free) {
      context.fillRect(bar.x, MAP.tall + 3, bar.width, 3);
      continue;
    }
    context.fillText(text, center, MAP.tall + MAP.marks / 2 + 1);
    free = center + half + 1;
  }
}

function outline(context: CanvasRenderingContext2D, bar: MapBar, color: string) {
  context.strokeStyle = color;
  context.lineWidth = 2;
  context.strokeRect(bar.x + 1, 1, Math.max(2, bar.width - 2), MAP.tall - 2);
}

/** Fill a path with thin slanting lines, on one grid, so that neighbours look like one surface. */
function hatch(context: CanvasRenderingContext2D, path: Path2D, width: number, color: string) {
  context.save();
  context.clip(path);
  context.globalAlpha = 0.12;
  context.fillStyle = color;
  context.fillRect(0, 0, width, MAP.tall);
  context.globalAlpha = 0.75;
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.beginPath();
  for (let start = -MAP.tall; start < width; start += 6) {
    context.moveTo(start, MAP.tall);
    context.lineTo(start + MAP.tall, 0);
  }
  context.stroke();
  context.restore();
}

/** What is said of a fragment, in the words of Python (fragment_columns.py). */
export function fragmentWords(history: History, { index }: MapState) {
  const [rows, deleted, size] = [history.state_rows, history.state_deleted, history.state_bytes].map(
    (all) => all[index],
  );
  const made = history.state_made_at[index];
  return [
    `Fragment ${count(history.state_fragment[index])}`,
    made < 0
      ? "made before the kept versions"
      : `made by ${visible(history.operationAt(made))} in version ${count(history.versions[made])}`,
    rowsWords(rows, deleted),
    `${plural(history.state_files[index], "data file")}, ${bytes(Number.isNaN(size) ? null : size)}`,
  ];
}

function rowsWords(rows: number, deleted: number) {
  if (Number.isNaN(rows)) return "unknown number of rows";
  if (Number.isNaN(deleted)) return `${plural(rows, "row")}, an unknown number of them deleted`;
  if (!deleted) return `${plural(rows, "row")}, none deleted`;
  return `${plural(rows, "row")}, ${count(deleted)} of them deleted (${percent(deleted / rows)})`;
}

/** What is said of a bar for several fragments. */
export function wordsOfSeveral(history: History, bar: MapBar) {
  const [first, last] = [bar.members[0], bar.members[bar.members.length - 1]].map(({ index }) =>
    count(history.state_fragment[index]),
  );
  return [
    `Fragments ${first} to ${last}`,
    `${plural(bar.members.length, "fragment")}, ${plural(bar.rows, "row")} with deleted ones`,
  ];
}

function describeBar(history: History, bar: MapBar) {
  if (bar.members.length === 1) return describeState(history, bar.members[0]).map((line) => <div>{line}</div>);
  const [name, rows] = wordsOfSeveral(history, bar);
  const marks = ["new", "changed", "removed"].map((mark) => [
    mark,
    bar.members.filter((member) => member.mark === mark).length,
  ]);
  const told = marks.filter(([, number]) => number).map(([mark, number]) => `${count(number)} ${mark}`);
  return [
    <div>
      <strong>{name}</strong>
    </div>,
    <div>{rows}</div>,
    told.length ? <div>{told.join(", ")}</div> : null,
  ].filter(Boolean);
}

/** What is said of a fragment, and what is new about it. */
function describeState(history: History, state: MapState): ComponentChildren[] {
  const [name, ...lines] = fragmentWords(history, state);
  return [<strong>{name}</strong>, ...lines, ...(state.mark ? [`${state.mark} in this version`] : [])];
}

function mapLegend(history: History, states: MapState[]) {
  const kinds = new Map();
  const marks = { new: 0, changed: 0, removed: 0 };
  let [rows, deleted] = [0, 0];
  for (const { index, mark } of states) {
    if (mark) marks[mark] += 1;
    if (mark === "removed") continue;
    const kind = history.state_kind[index];
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    rows += history.state_rows[index] || 0;
    deleted += history.state_deleted[index] || 0;
  }
  const entries = [...kinds]
    .sort(([a], [b]) => a - b)
    .map(([kind, number]) =>
      legendEntry(swatch(kindColor(history, kind)), `${madeBy(history, kind)}: ${count(number)}`),
    );
  if (deleted)
    entries.push(
      legendEntry(
        <i class="lx-swatch lx-hatched" />,
        `deleted: ${plural(deleted, "row")} (${percent(deleted / rows)})`,
      ),
    );
  for (const [mark, number] of Object.entries(marks) as [MapMark, number][]) {
    if (number) entries.push(legendEntry(<i class="lx-mark">{MARKS[mark]}</i>, `${mark}: ${count(number)}`));
  }
  return entries;
}

function madeBy(history: History, kind: number) {
  return history.kinds[kind] ? `made by ${history.kinds[kind]}` : "made before the kept versions";
}
