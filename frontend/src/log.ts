// The view: the commits of all branches, newest first, one line each. Only lines in sight are on the page.

import "./log.css";
import { unpackArrays } from "./arrays";
import { onTheme } from "./canvas";
import type { Child } from "./elements";
import { fill, node, rich, setAttributes } from "./elements";
import { isCommand } from "./keys";
import { kindColor, legendEntry, swatch } from "./legend";
import { connect } from "./link";
import { LINE, lanesWidth, logLanes } from "./log_lanes";
import type { LogAbout, LogAnswer, LogArrays, LogFilters, State } from "./messages";
import type { View } from "./model";
import { absoluteTime, bytes, count, cut, isoTime, plural, relativeTime, visible } from "./text";

type Log = LogAnswer & LogArrays;

const AROUND = 6; // lines on the page above and below those in sight
const FADE = 2_500; // ms, as in log.css
const PAUSE = 250; // ms, of typing

const CHANGES = [
  ["rows_added", "+", "added"],
  ["rows_updated", "~", "updated"],
  ["rows_deleted", "−", "deleted"],
  ["rows_overwritten", "−", "overwritten"],
  ["rows_restored", "↺", "restored"],
] as const;

/** How many rows a commit changed, in short and in words. */
export function rowChanges(log: Pick<LogArrays, (typeof CHANGES)[number][0]>, line: number) {
  const there = CHANGES.map(([name, sign, word]) => ({ value: log[name][line], sign, word })).filter(
    ({ value }) => value !== 0,
  );
  if (there.some(({ value }) => Number.isNaN(value))) return { short: "?", words: "how many rows is not known" };
  return {
    short: there.map(({ value, sign }) => `${sign}${count(value)}`).join(" "),
    words: there.map(({ value, word }) => `${plural(value, "row")} ${word}`).join(", "),
  };
}

/** A change of bytes with its sign; nothing if there is none or it is not known. */
export function bytesChange(change: number) {
  if (!change) return "";
  return change > 0 ? `+${bytes(change)}` : `−${bytes(-change)}`;
}

export function render({ model, el }: View) {
  const link = connect(model, el);
  let about: LogAbout = { branch: null, columns: [], filters: {} };
  let log: Log | null = null;
  let filters: LogFilters = {};
  let looked = -1; // the line whose commit is described
  let compared = -1; // that of the version to compare with
  const linesOf = new Map<string | null, Map<bigint, number>>(); // by branch and version
  let typing: number | undefined;
  const lines = new Map<number, HTMLElement>();
  let fading: number | undefined;
  const fresh = new Set<string>(); // commits that came while it was looked at
  let followed = -1; // the line of the version in the state

  // --- filters

  const text: HTMLInputElement = node("input", {
    class: "lx-input lx-log-text",
    type: "search",
    spellcheck: "false",
    placeholder: "Filter: words, message, author, tag, branch",
    "aria-label": "Show commits that say this",
    oninput: () => later({ text: text.value.trim() }),
  });
  const names = node("datalist", { id: `lx-log-${Math.random().toString(36).slice(2)}` });
  const column: HTMLInputElement = node("input", {
    class: "lx-input",
    list: names.id,
    spellcheck: "false",
    placeholder: "touches column",
    "aria-label": "Show commits that can have changed this column",
    oninput: () => later({ column: column.value.trim() }),
  });
  const since: HTMLInputElement = node("input", {
    class: "lx-input",
    spellcheck: "false",
    placeholder: "since: yesterday, 2026-11-22",
    "aria-label": "Show commits made since then, in UTC",
    title: "A day or time in UTC, 3 hours ago, yesterday, a version or a tag",
    oninput: () => later({ since: since.value.trim() }),
  });
  const kinds = node("div", { class: "lx-legend lx-log-kinds", role: "group", "aria-label": "Kinds of commits" });
  const problem = node("div", { class: "lx-note", role: "alert", hidden: true });
  const status = node("span", { class: "lx-quiet", role: "status" });

  // --- lines

  const lanes = logLanes();
  const space = node("div", { class: "lx-log-space" });
  const list = node(
    "div",
    {
      class: "lx-log-lines",
      role: "listbox",
      tabindex: 0,
      "aria-label": "Commits, newest first",
      onkeydown: pressed,
    },
    node("div", { class: "lx-log-lanes" }, lanes.element),
    space,
  );
  const detail = node("div", { class: "lx-log-detail" });
  for (const box of [text, column, since]) link.needsPython(box);
  link.root.classList.add("lx-box", "lx-log");
  link.root.append(
    node(
      "div",
      { class: "lx-log-bar" },
      text,
      column,
      names,
      since,
      status,
      link.needsPython(
        node("button", { class: "lx-button", title: "Look for new versions", onclick: () => load(true) }, "Refresh"),
      ),
    ),
    kinds,
    problem,
    node("div", { class: "lx-log-body" }, list, detail),
  );
  list.addEventListener("scroll", () => requestAnimationFrame(drawLines), { passive: true });
  const sized = new ResizeObserver(drawLines);
  sized.observe(list);

  // --- what is asked

  async function start() {
    if (!link.offline) {
      const newest = await link.ask<LogAnswer & { own_branch: string | null }>("newest");
      if (newest.is_part) {
        about = { branch: newest.own_branch, columns: [], filters: {} };
        take(newest);
      }
    }
    about = await link.ask<LogAbout>("about");
    filters = about.filters;
    fill(names, ...about.columns.slice(0, 3000).map((name) => node("option", { value: visible(name) })));
    showFilters();
    await load(false, Boolean(log));
  }

  function later(change: LogFilters) {
    filters = { ...filters, ...change };
    clearTimeout(typing);
    typing = setTimeout(() => load(false), PAUSE);
  }

  /** Show the commits anew; `isStill`: what is in sight stays where it is. */
  async function load(refresh: boolean, isStill = false) {
    const answer = await link.ask<LogAnswer & { problem?: string }>("log", { filters, refresh });
    problem.hidden = !answer.problem;
    problem.textContent = answer.problem ? cut(answer.problem, 300) : "";
    if (!answer.problem) take(answer, isStill);
  }

  function take(answer: LogAnswer, isStill = false) {
    const place = looked >= 0 && log ? placeOf(log, looked) : null;
    const top = Math.floor(list.scrollTop / LINE);
    const atTop = isStill && log && list.scrollTop > 0 && top < log.versions.length ? placeOf(log, top) : null;
    const within = list.scrollTop % LINE;
    const before = isStill && log ? newestOf(log) : null;
    const wasPart = log?.is_part;
    log = { ...answer, ...unpackArrays<LogArrays>(answer) };
    noteLines(log);
    for (const line of lines.values()) line.remove();
    lines.clear();
    lanes.setLog(log);
    list.style.setProperty("--lx-lanes", `${lanesWidth(log.num_lanes)}px`);
    list.classList.toggle("lx-log-anonymous", !log.author.some(Boolean) && !log.job.some(Boolean));
    list.style.setProperty("--lx-tall", `${Math.max(log.versions.length, 3) * LINE + 2}px`);
    space.style.height = `${log.versions.length * LINE}px`;
    const stays = atTop ? lineOf(atTop.branch, atTop.version) : -1;
    list.scrollTop = stays < 0 ? 0 : stays * LINE + within;
    markNew(log, before);
    if (!log.is_part) showKinds(log);
    status.textContent = told(log);
    looked = place === null ? -1 : lineOf(place.branch, place.version);
    if (!isStill || (wasPart && looked < 0)) follow(link.state);
    else if (looked >= 0) show();
    else mark();
    drawLines();
    if (!log.is_part) link.root.dataset.lines = String(log.num_found);
  }

  function noteLines({ versions, branch }: Log) {
    linesOf.clear();
    for (const name of new Set(branch)) linesOf.set(name, new Map());
    for (const [at, version] of versions.entries()) linesOf.get(branch[at])?.set(version, at);
  }

  /** The newest version that is shown of each branch. */
  function newestOf(from: Log) {
    const newest = new Map<string | null, bigint>();
    for (const [at, branch] of from.branch.entries())
      if (from.versions[at] > (newest.get(branch) ?? -1n)) newest.set(branch, from.versions[at]);
    return newest;
  }

  /** Note which lines have come since. */
  function markNew(from: Log, before: Map<string | null, bigint> | null) {
    if (!before) return;
    for (const [at, branch] of from.branch.entries())
      if (from.versions[at] > (before.get(branch) ?? -1n)) fresh.add(`${branch ?? ""}@${from.versions[at]}`);
    clearTimeout(fading);
    fading = setTimeout(() => fresh.clear(), FADE);
  }

  function told({ num_found: found, num_commits: every, versions, is_part }: Log) {
    if (is_part) return `the newest ${plural(found, "commit")}; the others are being read…`;
    const shown = versions.length < found ? `the newest ${count(versions.length)} of ` : "";
    return found === every
      ? `${shown}${plural(every, "commit")}`
      : `${shown}${count(found)} of ${plural(every, "commit")}`;
  }

  function showFilters() {
    text.value = filters.text ?? "";
    column.value = filters.column ?? "";
    since.value = filters.since ?? "";
  }

  function showKinds({ counts, kinds: known }: Log) {
    const chosen = new Set(filters.operation ?? []);
    fill(
      kinds,
      ...Object.entries(counts).map(([name, number]) =>
        link.needsPython(
          node(
            "button",
            {
              class: "lx-log-kind",
              "data-kind": name,
              "aria-pressed": String(chosen.has(name)),
              title: `Show only commits of this kind: ${name}`,
              onclick: () => {
                if (chosen.has(name)) chosen.delete(name);
                else chosen.add(name);
                filters = { ...filters, operation: [...chosen] };
                load(false);
              },
            },
            legendEntry(swatch(kindColor({ kinds: known }, known.indexOf(name))), `${name} ${count(number)}`),
          ),
        ),
      ),
    );
  }

  // --- lines in sight

  function drawLines() {
    if (!log) return;
    const first = Math.max(0, Math.floor(list.scrollTop / LINE) - AROUND);
    const last = Math.min(log.versions.length - 1, Math.ceil((list.scrollTop + list.clientHeight) / LINE) + AROUND);
    for (const [at, line] of lines) {
      if (at >= first && at <= last) continue;
      line.remove();
      lines.delete(at);
    }
    const made: HTMLElement[] = [];
    for (let at = first; at <= last; at += 1) {
      if (lines.has(at)) continue;
      const line = lineElement(log, at);
      markLine(line, at);
      lines.set(at, line);
      made.push(line);
    }
    space.append(...made);
    lanes.scroll(list.scrollTop);
    link.root.dataset.first = String(first);
  }

  function lineElement(from: Log, at: number) {
    const branch = from.branch[at];
    const { short, words } = rowChanges(from, at);
    const time = isoTime(from.times[at]);
    const who = from.author[at] ?? from.job[at];
    return node(
      "div",
      {
        class: "lx-log-line",
        id: `${names.id}-${at}`,
        role: "option",
        "data-version": String(from.versions[at]),
        "data-branch": branch,
        "data-new": fresh.has(`${branch ?? ""}@${from.versions[at]}`) ? "" : null,
        "aria-setsize": from.versions.length,
        "aria-posinset": at + 1,
        style: { top: `${at * LINE}px` },
        onclick: (event) => choose(at, event.shiftKey),
      },
      node("span", { class: "lx-log-version" }, `v${from.versions[at]}`),
      node(
        "span",
        { class: "lx-log-words" },
        ...labels(from, at),
        ...rich(from.words[at] ?? ""),
        from.message[at] ? node("em", { class: "lx-quiet" }, ` “${visible(from.message[at] as string)}”`) : null,
      ),
      node("span", { class: "lx-log-author lx-quiet", title: who ? visible(who) : null }, who ? cut(who, 30) : ""),
      node("span", { class: "lx-log-number", title: words }, short),
      node(
        "span",
        { class: "lx-log-number lx-log-bytes", title: "change of the data files" },
        bytesChange(from.bytes_change[at]),
      ),
      node("span", { class: "lx-log-time lx-quiet", title: absoluteTime(time) }, time ? relativeTime(time) : ""),
    );
  }

  function labels(from: Log, at: number) {
    const branch = from.branch[at];
    const made: Child[] = [];
    if (from.heads[at]) made.push(node("span", { class: "lx-log-label lx-log-head" }, cut(branch ?? "main", 40)));
    for (const tag of from.tags[at]) made.push(node("span", { class: "lx-log-label" }, `⚑ ${cut(tag, 40)}`));
    for (const name of from.branches_here[at])
      made.push(node("span", { class: "lx-log-label", title: "a branch begins here" }, `↱ ${cut(name, 40)}`));
    return made;
  }

  function mark() {
    const { compared_version: other } = link.state;
    compared = other === null ? -1 : lineOf(about.branch, other);
    for (const [at, line] of lines) markLine(line, at);
    list.setAttribute("aria-activedescendant", `${names.id}-${looked}`);
    lanes.mark([looked, compared]);
  }

  function markLine(line: HTMLElement, at: number) {
    setAttributes(line, { "aria-selected": at === looked, "data-compared": at === compared });
  }

  // --- choosing

  function placeOf(from: Log, at: number) {
    return { branch: from.branch[at], version: String(from.versions[at]) };
  }

  /** The line of a version, -1 if there is none. */
  function lineOf(branch: string | null, version: string) {
    return linesOf.get(branch)?.get(BigInt(version)) ?? -1;
  }

  function choose(at: number, isOther = false) {
    if (!log) return;
    const { branch, version } = placeOf(log, at);
    const isOwn = branch === about.branch;
    if (isOther) {
      if (isOwn && version !== link.state.version) link.setState({ compared_version: version });
      return;
    }
    looked = at;
    bring(at); // first, while the page is laid out
    if (isOwn) link.setState({ version, compared_version: null });
    else show();
  }

  function follow(state: State) {
    const at = state.version === null ? -1 : lineOf(about.branch, state.version);
    const isElsewhere = log && looked >= 0 && log.branch[looked] !== about.branch;
    if (at >= 0 && !(isElsewhere && at === followed)) {
      if (at !== looked) bring(at);
      looked = at;
    }
    followed = at;
    show();
  }

  function bring(at: number) {
    const top = at * LINE;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + LINE > list.scrollTop + list.clientHeight) list.scrollTop = top + LINE - list.clientHeight;
    drawLines();
  }

  function pressed(event: KeyboardEvent) {
    if (!log || isCommand(event)) return;
    const page = Math.max(1, Math.floor(list.clientHeight / LINE) - 1);
    const steps: Record<string, number> = {
      ArrowUp: looked - 1,
      ArrowDown: looked + 1,
      PageUp: looked - page,
      PageDown: looked + page,
      Home: 0,
      End: log.versions.length - 1,
    };
    if (event.key in steps) choose(Math.min(Math.max(steps[event.key], 0), log.versions.length - 1));
    else if (event.key === "Enter" && looked >= 0) openIn("time_travel", looked);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // --- one commit

  function show() {
    mark();
    if (!log || looked < 0) {
      fill(detail, node("p", { class: "lx-quiet" }, log ? "Choose a commit." : ""));
      return;
    }
    fill(detail, ...described(log, looked));
    link.root.dataset.chosen = String(log.versions[looked]);
  }

  function described(from: Log, at: number): Child[] {
    const { branch, version } = placeOf(from, at);
    const time = isoTime(from.times[at]);
    const { words } = rowChanges(from, at);
    const facts: [string, Child][] = [];
    const add = (name: string, value: string | null | undefined | false) => value && facts.push([name, visible(value)]);
    add("message", from.message[at]);
    add("author", from.author[at]);
    add("job", [from.job[at], from.run[at]].filter(Boolean).join(", run "));
    add("rows", words);
    add("data files", bytesChange(from.bytes_change[at]));
    add("columns", from.columns[at] ?? "whole rows");
    add("properties", from.properties[at]);
    const parent = from.parent_versions[at];
    if (parent) {
      const lost = from.lost[at] ? `; ${plural(from.lost[at], "version")} between are not kept` : "";
      const on = from.parent_branches[at] === branch ? "" : ` of ${cut(from.parent_branches[at] ?? "main", 40)}`;
      facts.push(["made on", `version ${count(parent)}${on}${lost}`]);
    }
    return [
      node(
        "h4",
        {},
        `Version ${count(version)}`,
        branch === about.branch ? "" : node("span", { class: "lx-quiet" }, ` of ${cut(branch ?? "main", 60)}`),
      ),
      node("div", { class: "lx-log-told" }, ...labels(from, at)),
      node(
        "div",
        { class: "lx-log-when" },
        legendEntry(swatch(kindColor(from, from.kind[at])), visible(from.operation[at] ?? "unknown operation")),
        node("span", { class: "lx-quiet" }, time ? `${relativeTime(time)}, ${absoluteTime(time)}` : "unknown time"),
      ),
      node("p", {}, ...rich(from.words[at] ?? "")),
      node(
        "dl",
        { class: "lx-log-facts" },
        ...facts.flatMap(([name, value]) => [node("dt", { class: "lx-quiet" }, name), node("dd", {}, value)]),
      ),
      node("div", { class: "lx-log-actions" }, ...actions(from, at)),
    ];
  }

  function actions(from: Log, at: number): Child[] {
    const { branch, version } = placeOf(from, at);
    if (branch !== about.branch)
      return link.canOpen("time_travel")
        ? [actionButton(`Switch to ${cut(branch ?? "main", 40)}`, () => openIn("time_travel", at))]
        : [];
    const before = from.parent_branches[at] === branch ? from.parent_versions[at] : null;
    const { compared_version: compared } = link.state;
    const [first, last] = [compared, version].sort((a, b) => Number(BigInt(a ?? 0) - BigInt(b ?? 0)));
    return [
      link.leadTo("time_travel", "Open in Time travel", { version }),
      link.leadTo("changes", "What it changed", {
        version,
        compared_version: before ?? (version === "1" ? "0" : version),
      }),
      compared !== null && compared !== version
        ? (link.leadTo("changes", `Compare ${count(first ?? 0)} with ${count(last ?? 0)}`, {
            version: last ?? version,
            compared_version: first ?? version,
          }) ?? node("span", { class: "lx-quiet" }, `compared with version ${count(compared)}`))
        : node("span", { class: "lx-quiet" }, "Shift and click another commit to compare."),
    ];
  }

  function actionButton(words: string, onclick: () => void) {
    return node("button", { class: "lx-button lx-small", onclick }, words);
  }

  /** Show a commit in another view; the explorer goes to its branch first. */
  function openIn(view: string, at: number) {
    if (!log || !link.canOpen(view)) return;
    const { branch, version } = placeOf(log, at);
    if (branch === about.branch) link.open(view, { version });
    else
      el.dispatchEvent(new CustomEvent("lx-branch", { bubbles: true, detail: { branch, view, changes: { version } } }));
  }

  link.on<LogFilters>("filters", (newest) => {
    filters = newest;
    showFilters();
    load(false);
  });
  link.on("versions", () => load(false, true));
  link.onState(follow);
  const stopTheme = onTheme(lanes.redraw);
  start();
  return () => {
    clearTimeout(typing);
    clearTimeout(fading);
    stopTheme();
    sized.disconnect();
    lanes.close();
    link.close();
  };
}
