// The lines of the log: of all commits, those in sight are on the page.

import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useId, useLayoutEffect, useState } from "preact/hooks";
import { onTheme } from "./canvas";
import { rich } from "./elements";
import { LINE, lanesWidth, logLanes } from "./log_lanes";
import { commitKey } from "./log_places";
import { bytesChange, type Log, rowChanges } from "./log_words";
import { Held } from "./reactive";
import { absoluteTime, cut, isoTime, listedTime, visible } from "./text";

const AROUND = 6; // lines on the page above and below those in sight

/** How the list is scrolled; `first` is the first line on the page. */
export interface Scroll {
  list: HTMLElement | null;
  first: Signal<number>;
}

interface LinesProps {
  scroll: Scroll;
  log: Log;
  /** Commits that came while it was looked at. */
  fresh: Set<string>;
  /** Whether commits that change no values of rows that were there are pale. */
  setsApart: boolean;
  chosen: number;
  compared: number;
  onChoose: (line: number, isOther: boolean) => void;
  onKey: (event: KeyboardEvent) => void;
}

/** The list with its lanes. */
export function LogLines({ scroll, log, fresh, setsApart, chosen, compared, onChoose, onKey }: LinesProps) {
  const id = useId();
  const [lanes] = useState(logLanes);
  const sight = useSignal([0, 0]);
  const look = () => {
    if (!scroll.list) return;
    const { scrollTop, clientHeight } = scroll.list;
    scroll.first.value = Math.max(0, Math.floor(scrollTop / LINE) - AROUND);
    sight.value = [scrollTop, clientHeight];
    lanes.scroll(scrollTop);
  };
  useEffect(() => {
    const sized = new ResizeObserver(look);
    if (scroll.list) sized.observe(scroll.list);
    const stopTheme = onTheme(lanes.redraw);
    return () => {
      sized.disconnect();
      stopTheme();
      lanes.close();
    };
  }, []);
  useLayoutEffect(() => lanes.setLog(log), [log]);
  useLayoutEffect(() => lanes.mark([chosen, compared]), [chosen, compared]);
  const total = log.versions.length;
  const first = scroll.first.value;
  const last = Math.min(total - 1, Math.ceil((sight.value[0] + sight.value[1]) / LINE) + AROUND);
  return (
    <div
      class={`lx-log-lines${log.author.some(Boolean) || log.job.some(Boolean) ? "" : " lx-log-anonymous"}`}
      role="listbox"
      tabIndex={0}
      aria-label="Commits, newest first"
      aria-activedescendant={`${id}-${chosen}`}
      style={{
        "--lx-lanes": `${lanesWidth(log.num_lanes)}px`,
        "--lx-digits": mostDigits(log.versions),
        "--lx-tall": `${Math.max(total, 3) * LINE + 2}px`,
      }}
      ref={(list) => {
        scroll.list = list;
      }}
      onKeyDown={onKey}
      onScroll={() => requestAnimationFrame(look)}
    >
      <div class="lx-log-lanes">
        <Held element={lanes.element} />
      </div>
      <div class="lx-log-space" style={{ height: `${total * LINE}px` }}>
        {Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (
          <CommitLine
            key={commitKey(log, first + i)}
            log={log}
            at={first + i}
            id={`${id}-${first + i}`}
            aria-selected={first + i === chosen}
            data-pale={(setsApart && log.keeps_values[first + i] > 0) || undefined}
            data-compared={first + i === compared}
            data-new={fresh.has(commitKey(log, first + i)) || undefined}
            onClick={(event: MouseEvent) => onChoose(first + i, event.shiftKey)}
          />
        ))}
      </div>
    </div>
  );
}

/** How many digits the longest number of a version has. */
export function mostDigits(versions: BigUint64Array) {
  return versions.reduce((most, version) => Math.max(most, String(version).length), 1);
}

export function CommitLine({ log, at, ...more }: { log: Log; at: number; [attribute: string]: unknown }) {
  const { short, words } = rowChanges(log, at);
  const time = isoTime(log.times[at]);
  const who = log.author[at] ?? log.job[at];
  const message = log.message[at];
  return (
    <div
      class="lx-log-line"
      role="option"
      data-version={String(log.versions[at])}
      data-branch={log.branch[at]}
      aria-setsize={log.versions.length}
      aria-posinset={at + 1}
      style={{ top: `${at * LINE}px` }}
      {...more}
    >
      <span class="lx-log-version">v{String(log.versions[at])}</span>
      <span class="lx-log-words">
        {commitLabels(log, at)}
        {rich(log.words[at] ?? "")}
        {message && <em class="lx-quiet"> “{visible(message)}”</em>}
      </span>
      <span class="lx-log-author lx-quiet" title={who ? visible(who) : undefined}>
        {who ? cut(who, 30) : ""}
      </span>
      <span class="lx-log-number" title={words}>
        {short}
      </span>
      <span class="lx-log-number lx-log-bytes" title="change of the data files">
        {bytesChange(log.bytes_change[at])}
      </span>
      <span class="lx-log-time lx-quiet" title={absoluteTime(time)}>
        {listedTime(time)}
      </span>
    </div>
  );
}

/** The branch whose newest commit it is, its tags, and the branches that begin at it. */
export function commitLabels(log: Log, at: number): ComponentChild[] {
  const label = (text: string, more = "", title?: string) => (
    <span class={`lx-log-label${more}`} title={title}>
      {text}
    </span>
  );
  return [
    log.heads[at] ? label(cut(log.branch[at] ?? "main", 40), " lx-log-head") : null,
    ...log.tags[at].map((tag) => label(`⚑ ${cut(tag, 40)}`)),
    ...log.branches_here[at].map((name) => label(`↱ ${cut(name, 40)}`, "", "a branch begins here")),
  ];
}
