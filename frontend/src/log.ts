// The view: the commits of all branches, newest first, one line each, and the one that is chosen.

import "./log.css";
import { unpackArrays } from "./arrays";
import { awaited } from "./awaited";
import { onTheme } from "./canvas";
import { node } from "./elements";
import { isCommand } from "./keys";
import { connect } from "./link";
import { commitDetail } from "./log_detail";
import { logFilters } from "./log_filters";
import { logLines } from "./log_lines";
import { lineFinder, placeOf } from "./log_places";
import { type Log, shownWords } from "./log_words";
import type { LogAbout, LogAnswer, LogArrays, LogFilters, State } from "./messages";
import type { View } from "./model";
import { cut } from "./text";
import { refreshButton } from "./toolbar";

export function render({ model, el }: View) {
  const link = connect(model, el);
  let ownBranch: string | null = null;
  let log: Log | null = null;
  let lineOf: ReturnType<typeof lineFinder> = () => -1;
  let looked = -1; // the line whose commit is described
  let followed = -1; // the line of the version in the state

  const filters = logFilters(link, () => load(false));
  const problem = node("div", { class: "lx-note", role: "alert", hidden: true });
  const status = node("span", { class: "lx-quiet", role: "status" });
  const lines = logLines({
    onChoose: choose,
    onKey: pressed,
    onDrawn: (first) => {
      link.root.dataset.first = String(first);
    },
  });
  const detail = commitDetail(link, openIn);
  link.root.classList.add("lx-box", "lx-log");
  link.root.append(
    node(
      "div",
      { class: "lx-log-bar" },
      ...filters.boxes,
      status,
      refreshButton(link, () => load(true)),
    ),
    filters.kinds,
    problem,
    node("div", { class: "lx-log-body" }, lines.element, detail.element),
  );
  const all = awaited(link.root);

  // --- what is asked

  async function start() {
    if (!link.offline) {
      const newest = await link.ask<LogAnswer & { own_branch: string | null }>("newest");
      if (newest.is_part) {
        ownBranch = newest.own_branch;
        take(newest);
      }
    }
    const about = await link.ask<LogAbout>("about");
    ownBranch = about.branch;
    filters.propose(about.columns);
    filters.show(about.filters);
    await load(false, Boolean(log));
  }

  /** Show the commits anew; `isStill`: what is in sight stays where it is. */
  async function load(refresh: boolean, isStill = false) {
    const asked = { filters: filters.filters(), refresh };
    const answer = await link.ask<LogAnswer & { problem?: string }>("log", asked);
    all.come();
    problem.hidden = !answer.problem;
    problem.textContent = answer.problem ? cut(answer.problem, 300) : "";
    if (!answer.problem) take(answer, isStill);
  }

  function take(answer: LogAnswer, isStill = false) {
    all.come();
    const place = looked >= 0 && log ? placeOf(log, looked) : null;
    const [top, within] = [lines.top(), lines.within()];
    const isScrolled = top > 0 || within > 0;
    const atTop = isStill && isScrolled && log && top < log.versions.length ? placeOf(log, top) : null;
    const wasPart = log?.is_part;
    const earlier = isStill ? log : null;
    log = { ...answer, ...unpackArrays<LogArrays>(answer) };
    lineOf = lineFinder(log);
    lines.setLog(log, earlier);
    const stays = atTop ? lineOf(atTop) : -1;
    if (stays < 0) lines.scrollTo(0);
    else lines.scrollTo(stays, within);
    if (!log.is_part) filters.showKinds(log);
    status.textContent = shownWords(log);
    looked = place ? lineOf(place) : -1;
    if (!isStill || (wasPart && looked < 0)) follow(link.state);
    else if (looked >= 0) show();
    else mark();
    lines.draw();
    if (!log.is_part) link.root.dataset.lines = String(log.num_found);
  }

  // --- choosing

  function lineOfOwn(version: string | null) {
    return version === null ? -1 : lineOf({ branch: ownBranch, version });
  }

  function mark() {
    lines.mark(looked, lineOfOwn(link.state.compared_version));
  }

  function show() {
    mark();
    detail.show(log, looked, ownBranch);
    if (log && looked >= 0) link.root.dataset.chosen = String(log.versions[looked]);
  }

  function choose(line: number, isOther = false) {
    if (!log) return;
    const { branch, version } = placeOf(log, line);
    const isOwn = branch === ownBranch;
    if (isOther) {
      if (isOwn && version !== link.state.version) link.setState({ compared_version: version });
      return;
    }
    looked = line;
    lines.bring(line); // first, while the page is laid out
    if (isOwn) link.setState({ version, compared_version: null });
    else show();
  }

  function follow(state: State) {
    const line = lineOfOwn(state.version);
    const isElsewhere = log && looked >= 0 && log.branch[looked] !== ownBranch;
    if (line >= 0 && !(isElsewhere && line === followed)) {
      if (line !== looked) lines.bring(line);
      looked = line;
    }
    followed = line;
    show();
  }

  function pressed(event: KeyboardEvent) {
    if (!log || isCommand(event)) return;
    const steps: Record<string, number> = {
      ArrowUp: looked - 1,
      ArrowDown: looked + 1,
      PageUp: looked - lines.perPage(),
      PageDown: looked + lines.perPage(),
      Home: 0,
      End: log.versions.length - 1,
    };
    if (event.key in steps) choose(Math.min(Math.max(steps[event.key], 0), log.versions.length - 1));
    else if (event.key === "Enter" && looked >= 0) openIn("time_travel", looked);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Show a commit in another view; the explorer goes to its branch first. */
  function openIn(view: string, line: number) {
    if (!log || !link.canOpen(view)) return;
    const { branch, version } = placeOf(log, line);
    if (branch === ownBranch) link.open(view, { version });
    else
      el.dispatchEvent(new CustomEvent("lx-branch", { bubbles: true, detail: { branch, view, changes: { version } } }));
  }

  link.on<LogFilters>("filters", (newest) => {
    filters.show(newest);
    load(false);
  });
  link.on("versions", () => load(false, true));
  link.onState(follow);
  const stopTheme = onTheme(lines.redraw);
  start();
  return () => {
    filters.close();
    stopTheme();
    lines.close();
    link.close();
  };
}
