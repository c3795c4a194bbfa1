// The lines of the log: of all commits, those in sight are on the page.

import type { Child } from "./elements";
import { node, rich, setAttributes } from "./elements";
import { LINE, lanesWidth, logLanes } from "./log_lanes";
import { cameSince, commitKey } from "./log_places";
import { bytesChange, type Log, rowChanges } from "./log_words";
import { absoluteTime, cut, isoTime, relativeTime, visible } from "./text";

const AROUND = 6; // lines on the page above and below those in sight

const FADE = 2_500; // ms, as in log.css

interface LineActions {
  onChoose: (line: number, isOther: boolean) => void;
  onKey: (event: KeyboardEvent) => void;
  /** The first line on the page is another. */
  onDrawn: (first: number) => void;
}

/**
 * The list with its lanes. Gives: `element`, `setLog(log, earlier)`, which marks the commits that
 * came since an earlier log, `mark(chosen, compared)`, `draw()`, and for scrolling `top()`,
 * `within()`, `scrollTo(line, within)`, `bring(line)`, `perPage()`; `redraw()` after the theme
 * changed, and `close()`.
 */
export function logLines({ onChoose, onKey, onDrawn }: LineActions) {
  const id = `lx-log-${Math.random().toString(36).slice(2)}`;
  const lines = new Map<number, HTMLElement>();
  const fresh = new Set<string>(); // commits that came while it was looked at
  let log: Log | null = null;
  let fading: number | undefined;
  let [chosen, compared] = [-1, -1];

  const lanes = logLanes();
  const space = node("div", { class: "lx-log-space" });
  const list = node(
    "div",
    { class: "lx-log-lines", role: "listbox", tabindex: 0, "aria-label": "Commits, newest first", onkeydown: onKey },
    node("div", { class: "lx-log-lanes" }, lanes.element),
    space,
  );
  list.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  const sized = new ResizeObserver(draw);
  sized.observe(list);

  function setLog(newest: Log, earlier: Log | null) {
    log = newest;
    for (const line of lines.values()) line.remove();
    lines.clear();
    lanes.setLog(log);
    list.style.setProperty("--lx-lanes", `${lanesWidth(log.num_lanes)}px`);
    list.style.setProperty("--lx-digits", String(mostDigits(log.versions)));
    list.classList.toggle("lx-log-anonymous", !log.author.some(Boolean) && !log.job.some(Boolean));
    list.style.setProperty("--lx-tall", `${Math.max(log.versions.length, 3) * LINE + 2}px`);
    space.style.height = `${log.versions.length * LINE}px`;
    if (!earlier) return;
    for (const commit of cameSince(log, earlier)) fresh.add(commit);
    clearTimeout(fading);
    fading = setTimeout(() => fresh.clear(), FADE);
  }

  function draw() {
    if (!log) return;
    const first = Math.max(0, Math.floor(list.scrollTop / LINE) - AROUND);
    const last = Math.min(log.versions.length - 1, Math.ceil((list.scrollTop + list.clientHeight) / LINE) + AROUND);
    for (const [at, line] of lines) {
      if (at >= first && at <= last) continue;
      line.remove();
      lines.delete(at);
    }
    for (let at = first; at <= last; at += 1) {
      if (lines.has(at)) continue;
      const line = commitLine(log, at);
      setAttributes(line, { id: `${id}-${at}`, ...marksOf(at) });
      line.toggleAttribute("data-new", fresh.has(commitKey(log, at)));
      line.addEventListener("click", (event) => onChoose(at, event.shiftKey));
      lines.set(at, line);
      space.append(line);
    }
    lanes.scroll(list.scrollTop);
    onDrawn(first);
  }

  function marksOf(line: number) {
    return { "aria-selected": line === chosen, "data-compared": line === compared };
  }

  return {
    element: list,
    setLog,
    draw,
    mark(newChosen: number, newCompared: number) {
      [chosen, compared] = [newChosen, newCompared];
      for (const [at, line] of lines) setAttributes(line, marksOf(at));
      list.setAttribute("aria-activedescendant", `${id}-${chosen}`);
      lanes.mark([chosen, compared]);
    },
    /** The first line in sight, and how many pixels of it are not. */
    top: () => Math.floor(list.scrollTop / LINE),
    within: () => list.scrollTop % LINE,
    scrollTo(line: number, within = 0) {
      list.scrollTop = line * LINE + within;
    },
    /** Scroll as little as brings a line in sight. */
    bring(line: number) {
      const top = line * LINE;
      if (top < list.scrollTop) list.scrollTop = top;
      else if (top + LINE > list.scrollTop + list.clientHeight) list.scrollTop = top + LINE - list.clientHeight;
      draw();
    },
    perPage: () => Math.max(1, Math.floor(list.clientHeight / LINE) - 1),
    redraw: lanes.redraw,
    close() {
      clearTimeout(fading);
      sized.disconnect();
      lanes.close();
    },
  };
}

/** How many digits the longest number of a version has. */
export function mostDigits(versions: BigUint64Array) {
  return versions.reduce((most, version) => Math.max(most, String(version).length), 1);
}

function commitLine(log: Log, at: number) {
  const { short, words } = rowChanges(log, at);
  const time = isoTime(log.times[at]);
  const who = log.author[at] ?? log.job[at];
  const message = log.message[at];
  return node(
    "div",
    {
      class: "lx-log-line",
      role: "option",
      "data-version": String(log.versions[at]),
      "data-branch": log.branch[at],
      "aria-setsize": log.versions.length,
      "aria-posinset": at + 1,
      style: { top: `${at * LINE}px` },
    },
    node("span", { class: "lx-log-version" }, `v${log.versions[at]}`),
    node(
      "span",
      { class: "lx-log-words" },
      ...commitLabels(log, at),
      ...rich(log.words[at] ?? ""),
      message ? node("em", { class: "lx-quiet" }, ` “${visible(message)}”`) : null,
    ),
    node("span", { class: "lx-log-author lx-quiet", title: who ? visible(who) : null }, who ? cut(who, 30) : ""),
    node("span", { class: "lx-log-number", title: words }, short),
    node(
      "span",
      { class: "lx-log-number lx-log-bytes", title: "change of the data files" },
      bytesChange(log.bytes_change[at]),
    ),
    node("span", { class: "lx-log-time lx-quiet", title: absoluteTime(time) }, time ? relativeTime(time) : ""),
  );
}

/** The branch whose newest commit it is, its tags, and the branches that begin at it. */
export function commitLabels(log: Log, at: number): Child[] {
  const label = (text: string, more = "", title: string | null = null) =>
    node("span", { class: `lx-log-label${more}`, title }, text);
  return [
    log.heads[at] ? label(cut(log.branch[at] ?? "main", 40), " lx-log-head") : null,
    ...log.tags[at].map((tag) => label(`⚑ ${cut(tag, 40)}`)),
    ...log.branches_here[at].map((name) => label(`↱ ${cut(name, 40)}`, "", "a branch begins here")),
  ];
}
