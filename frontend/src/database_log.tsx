// The commits of all tables over time, each table a lane; and the newest of them in words.

import { useSignal } from "@preact/signals";
import { extent, max } from "d3-array";
import { useEffect, useState } from "preact/hooks";
import { Choices } from "./cards";
import { rich } from "./elements";
import { kindColor, legendEntry, swatch } from "./legend";
import type { DatabaseLog } from "./messages";
import { set } from "./reactive";
import { absoluteTime, count, cut, isoTime, listedTime, plural } from "./text";
import { timeMarks } from "./time_axis";
import { tooltip } from "./tooltip";

const DAY = 86_400_000; // ms
const SPANS = { all: "All", month: "30 days", week: "7 days", day: "24 hours" };
const LONG: Record<keyof typeof SPANS, number> = {
  all: Number.POSITIVE_INFINITY,
  month: 30 * DAY,
  week: 7 * DAY,
  day: DAY,
};
const TICKS = 5;
const LINES = 100;

interface LanesProps {
  root: HTMLElement;
  log: DatabaseLog | null;
  onOpen: (name: string, version: string, branch: string | null) => void;
}

export function DatabaseLanes({ root, log, onOpen }: LanesProps) {
  const span = useSignal<keyof typeof SPANS>("all");
  const chosen = useSignal<number | null>(null); // the only lane whose commits are told
  const most = useSignal(LINES);
  const [tip] = useState(() => tooltip(root));
  useEffect(() => tip.hide, []);
  if (!log) return <p role="status">Reading the commits of all tables…</p>;

  const from = (max(log.times) ?? 0) - LONG[span.value];
  const shown = [...log.times.keys()].filter((at) => !(log.times[at] < from)); // an unknown time is in each span
  const [first = 0, last = 0] = extent(shown, (at) => log.times[at]);
  const placed = (time: number) => `${first < last ? 1 + (98 * (time - first)) / (last - first) : 50}%`;
  const marks = timeMarks(first, last, TICKS);
  const lanes = new Map<number, number[]>();
  for (const at of shown) lanes.set(log.lane[at], [...(lanes.get(log.lane[at]) ?? []), at]);
  const told = chosen.value === null ? shown : (lanes.get(chosen.value) ?? []);
  const kinds = [...new Set(shown.map((at) => log.kind[at]))].sort((a, b) => a - b);
  const open = (at: number) => onOpen(log.tables[log.lane[at]], String(log.versions[at]), log.branch[at]);
  const atOf = ({ target }: Event) => (target as Element).getAttribute("data-at");

  /** The commit below the pointer, in words. */
  function pointed(event: PointerEvent) {
    const at = atOf(event);
    if (at === null) tip.hide();
    else
      tip.show(
        event,
        <div class="lx-db-words">
          <Words log={log as DatabaseLog} at={Number(at)} />
        </div>,
      );
  }

  return (
    <div class="lx-db-log">
      <div class="lx-toolbar">
        <Choices label="How far back" of={SPANS} chosen={span} />
        <span class="lx-quiet">
          {plural(shown.length, "commit")} of {plural(lanes.size, "table")}
          {log.is_cut && span.value === "all" && ", the newest"}
        </span>
        <div class="lx-legend">
          {kinds.map((kind) => legendEntry(swatch(kindColor(log, kind)), log.kinds[kind] ?? "other"))}
        </div>
      </div>
      {log.not_read.length > 0 && (
        <details class="lx-note">
          <summary>Commits of {plural(log.not_read.length, "table")} are missing</summary>
          {log.not_read.map((why) => (
            <div>{rich(cut(why, 400))}</div>
          ))}
        </details>
      )}
      <div class="lx-db-lanes">
        <div class="lx-db-lane lx-db-axis" aria-hidden="true">
          <span class="lx-quiet lx-db-from">{shown.length > 0 && `from ${absoluteTime(isoTime(first))}`}</span>
          <span class="lx-db-strip">
            {marks.map(({ at, label }) => (
              <span class="lx-quiet" style={{ left: placed(at) }}>
                {label}
              </span>
            ))}
          </span>
        </div>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: each commit is a button in the list below, too */}
        <div
          onPointerMove={pointed}
          onPointerLeave={tip.hide}
          onClick={(event) => {
            const at = atOf(event);
            if (at !== null) open(Number(at));
          }}
        >
          {[...lanes].map(([lane, commits]) => (
            <div class="lx-db-lane" key={lane} data-table={log.tables[lane]}>
              <button
                class="lx-line-button lx-db-lane-name"
                aria-pressed={chosen.value === lane}
                title={`Only commits of ${log.tables[lane]} in the list`}
                onClick={() => set(chosen, chosen.value === lane ? null : lane)}
              >
                {cut(log.tables[lane], 60)}
              </button>
              <svg class="lx-db-strip" role="img" aria-label={plural(commits.length, "commit")}>
                {marks.map(({ at }) => (
                  <line x1={placed(at)} x2={placed(at)} y1="0" y2="100%" />
                ))}
                {commits.toReversed().map((at) => (
                  <circle
                    data-at={at}
                    cx={placed(log.times[at] || first)}
                    cy="50%"
                    r="5"
                    fill={kindColor(log, log.kind[at])}
                  />
                ))}
              </svg>
            </div>
          ))}
        </div>
      </div>
      <div class="lx-part-head">
        <h4>{chosen.value === null ? "Newest commits" : `Newest commits of ${cut(log.tables[chosen.value], 60)}`}</h4>
        {chosen.value !== null && (
          <button class="lx-button lx-small" onClick={() => set(chosen, null)}>
            Of all tables
          </button>
        )}
      </div>
      <div class="lx-db-commits">
        {told.slice(0, most.value).map((at) => (
          <button class="lx-line-button lx-db-commit" onClick={() => open(at)} key={at}>
            <Words log={log} at={at} />
          </button>
        ))}
        {told.length > most.value && (
          <button class="lx-button lx-small" onClick={() => set(most, most.value + LINES)}>
            {plural(told.length - most.value, "older commit")}
          </button>
        )}
      </div>
    </div>
  );
}

/** A commit: when, of which table, and what it did. */
function Words({ log, at }: { log: DatabaseLog; at: number }) {
  const time = isoTime(log.times[at]);
  const branch = log.branch[at];
  return (
    <>
      <span class="lx-quiet" title={absoluteTime(time)}>
        {listedTime(time) || "at an unknown time"}
      </span>
      <strong>{cut(log.tables[log.lane[at]], 40)}</strong>
      <span>
        {branch === null ? "" : `${cut(branch, 40)}, `}version {count(log.versions[at])}
      </span>
      <span>
        {swatch(kindColor(log, log.kind[at]))} {rich(cut(log.words[at] ?? log.operation[at] ?? "", 200))}
      </span>
    </>
  );
}
