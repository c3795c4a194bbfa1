// The view: the commits of all branches, newest first, one line each, and the one that is chosen.

import "./log.css";
import { batch, computed, signal } from "@preact/signals";
import { isCommand } from "./keys";
import { CommitDetail } from "./log_detail";
import { FilterBoxes, KindFilters } from "./log_filters";
import { LINE } from "./log_lanes";
import { LogLines, type Scroll } from "./log_lines";
import { type CommitPlace, cameSince, lineFinder, placeOf } from "./log_places";
import { changingWords, type Log, shownWords } from "./log_words";
import type { LogAnswer, LogFilters, LogQuestions, State } from "./messages";
import { Note, Refresh, view } from "./reactive";
import { cut } from "./text";

const FADE = 2_500; // ms, as in log.css

export const render = view<LogQuestions>("lx-log", ({ el, link, follow: draw, awaits }) => {
  const log = signal<Log | null>(null);
  const ownBranch = signal<string | null>(null);
  const looked = signal<CommitPlace | null>(null); // the commit that is described
  const compared = signal<string | null>(null);
  const filters = signal<LogFilters>({});
  const columns = signal<string[]>([]);
  const column = signal(""); // by which the commits in sight are filtered
  const problem = signal("");
  const fresh = signal(new Set<string>());
  const scroll: Scroll = { list: null, first: signal(0) };
  let followed: string | null = null; // the version in the state
  let fading = 0;

  const lineOf = computed(() => (log.value ? lineFinder(log.value) : () => -1));
  const line = computed(() => (looked.value ? lineOf.value(looked.value) : -1));

  // --- what is asked

  async function start() {
    if (!link.offline) {
      const { log: newest, own_branch } = await link.ask("newest");
      if (newest) {
        ownBranch.value = own_branch;
        take(newest);
      }
    }
    const about = await link.ask("about");
    ownBranch.value = about.branch;
    columns.value = about.columns;
    filters.value = about.filters;
    await load(false, log.value !== null);
  }

  /** Show the commits anew; `isStill`: what is in sight stays where it is. */
  async function load(refresh: boolean, isStill = false) {
    const asked = filters.value;
    const answer = await link.ask("log", { filters: asked, refresh });
    problem.value = "problem" in answer ? cut(answer.problem, 300) : "";
    if ("problem" in answer) return;
    column.value = asked.column?.trim() ?? "";
    take(answer, isStill);
  }

  function take(newest: LogAnswer, isStill = false) {
    const earlier = log.value;
    const top = scroll.list?.scrollTop ?? 0;
    const atTop = isStill && earlier && top ? placeOf(earlier, Math.floor(top / LINE)) : null;
    batch(() => {
      log.value = newest;
      fresh.value = new Set(isStill && earlier ? cameSince(newest, earlier) : []);
      if (line.value < 0) looked.value = null;
    });
    clearTimeout(fading);
    fading = window.setTimeout(() => {
      fresh.value = new Set();
    }, FADE);
    const stays = atTop ? lineOf.value(atTop) : -1;
    if (scroll.list) scroll.list.scrollTop = stays < 0 ? 0 : stays * LINE + (top % LINE);
    if (!isStill || (earlier?.is_part && !looked.value)) follow(link.state);
    if (!newest.is_part) link.root.dataset.lines = String(newest.num_found);
  }

  // --- choosing

  function choose(at: number, isOther = false) {
    if (!log.value) return;
    const place = placeOf(log.value, at);
    const { version } = place;
    const isOwn = place.branch === ownBranch.value;
    if (isOther) {
      if (isOwn && version !== link.state.version) link.setState({ compared_version: version });
      return;
    }
    bring(at); // first, while the page is laid out
    looked.value = place;
    if (isOwn) link.setState({ version, compared_version: null });
  }

  /** Scroll as little as brings a line in sight. */
  function bring(at: number) {
    const { list } = scroll;
    if (!list) return;
    const top = at * LINE;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + LINE > list.scrollTop + list.clientHeight) list.scrollTop = top + LINE - list.clientHeight;
  }

  function follow({ version, compared_version }: State) {
    compared.value = compared_version;
    if (version === null) return;
    const own = { branch: ownBranch.value, version };
    const at = lineOf.value(own);
    const isElsewhere = looked.value && looked.value.branch !== ownBranch.value;
    if (at >= 0 && !(isElsewhere && version === followed)) {
      if (at !== line.value) bring(at);
      looked.value = own;
    }
    followed = version;
  }

  function pressed(event: KeyboardEvent) {
    if (!log.value || isCommand(event)) return;
    const [at, last] = [line.value, log.value.versions.length - 1];
    const page = Math.max(1, Math.floor((scroll.list?.clientHeight ?? 0) / LINE) - 1);
    const steps: Record<string, number> = {
      ArrowUp: at - 1,
      ArrowDown: at + 1,
      PageUp: at - page,
      PageDown: at + page,
      Home: 0,
      End: last,
    };
    if (event.key in steps) choose(Math.min(Math.max(steps[event.key], 0), last));
    else if (event.key === "Enter" && at >= 0) openIn("time_travel", at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Show a commit in another view; the explorer goes to its branch first. */
  function openIn(where: string, at: number) {
    if (!log.value || !link.canOpen(where)) return;
    const { branch, version } = placeOf(log.value, at);
    const detail = { branch, view: where, changes: { version } };
    if (branch === ownBranch.value) link.open(where, { version });
    else el.dispatchEvent(new CustomEvent("lx-branch", { bubbles: true, detail }));
  }

  link.on("filters", (newest) => {
    filters.value = newest;
    load(false);
  });
  link.on("versions", () => load(false, true));
  link.onState(follow);
  awaits(log);
  start();
  draw(() => {
    link.root.dataset.first = String(scroll.first.value);
  });
  draw(() => {
    if (looked.value) link.root.dataset.chosen = looked.value.version;
  });
  return () => (
    <>
      <div class="lx-log-bar">
        <FilterBoxes link={link} filters={filters} columns={columns.value} onChange={() => load(false)} />
        <span class="lx-quiet" role="status">
          {log.value && shownWords(log.value)}
        </span>
        <Refresh link={link} onClick={() => load(true)} />
      </div>
      {log.value && <KindFilters link={link} filters={filters} of={log.value} onChange={() => load(false)} />}
      <Note>{problem.value}</Note>
      {log.value && column.value && log.value.versions.length > 0 && (
        <div class="lx-quiet lx-log-apart">{changingWords(log.value, column.value)}</div>
      )}
      <div class="lx-log-body">
        {log.value && (
          <LogLines
            scroll={scroll}
            log={log.value}
            fresh={fresh.value}
            setsApart={!!column.value}
            chosen={line.value}
            compared={lineOf.value({ branch: ownBranch.value, version: compared.value ?? "-1" })}
            onChoose={choose}
            onKey={pressed}
          />
        )}
        <div class="lx-log-detail">
          {log.value && (
            <CommitDetail
              link={link}
              log={log.value}
              line={line.value}
              ownBranch={ownBranch.value}
              compared={compared.value}
              openIn={openIn}
            />
          )}
        </div>
      </div>
    </>
  );
});
