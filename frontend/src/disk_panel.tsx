// What is on disk and whose it is, since when, and what a cleanup or a compaction would make of it.

import "./disk_panel.css";
import { useLayoutEffect } from "preact/hooks";
import { sectionsOf } from "./answer_sections";
import { byteAreas } from "./byte_areas";
import type { History } from "./history";
import { legendEntry, swatch } from "./legend";
import type { DiskUsage, Plan, Problem } from "./messages";
import { CopyButton, Held, useNewest, usePicture } from "./reactive";
import { bytes, count, cut } from "./text";

interface DiskProps {
  root: HTMLElement;
  /** What is on disk; null while it is being looked at. */
  usage: DiskUsage | Problem | null;
  plans: Plan[] | null;
  history: History | null;
  /** The chosen version. */
  version: bigint | undefined;
  onMove: (position: number) => void;
  /** Whether each kind of object has a line, and each plan all that there is to say of it. */
  isWhole: boolean;
}

/** The panel has its height before what it shows is known. */
export function DiskPanel({ root, usage, plans, history, version, onMove, isWhole }: DiskProps) {
  const now = useNewest(history);
  const growth = usePicture(() =>
    byteAreas(root, {
      label: "Bytes on disk over versions",
      height: 110,
      onMove,
      describeVersion: (p) => (
        <div>
          <strong>Written up to version {count(now.current?.versions[p] ?? 0)}</strong>
        </div>
      ),
    }),
  );
  const problem = usage && "problem" in usage ? usage.problem : null;
  const known = usage && "problem" in usage ? null : usage;
  useLayoutEffect(() => {
    if (!known || !history?.count) return;
    const parts = known.parts.map(({ words, color, values }) => ({
      name: words,
      color,
      values: alignedTo(history, known.versions, values),
    }));
    growth.setHistory({ ...history, tags: [] }, parts);
  }, [known, history]);
  useLayoutEffect(() => {
    if (known && history?.count) growth.show(history.positionOf(String(version)) ?? -1, null);
  }, [known, history, version]);
  return (
    <div class={isWhole ? "lx-disk-panel" : "lx-disk-panel lx-disk-brief"}>
      <div class="lx-disk-first">
        {problem !== null ? (
          <div class="lx-note">{cut(problem, 500)}</div>
        ) : (
          <>
            <p class={known ? "lx-disk-sentence" : "lx-disk-sentence lx-quiet"} role={known ? undefined : "status"}>
              {known?.sentence ?? "Looking at what is on disk…"}
            </p>
            {known ? bar(known) : <div class="lx-disk-bar lx-disk-waiting" />}
            <div class="lx-legend">
              {known
                ? known.statuses.map(({ words, color, bytes: size }) =>
                    legendEntry(swatch(color), `${words}: ${bytes(size)}`),
                  )
                : waitingLine("24ch")}
            </div>
          </>
        )}
      </div>
      <div>
        {problem === null && plans?.length !== 0 && (
          <dl class="lx-disk-plans">{plans?.map((plan) => planLines(plan, isWhole)) ?? waitingPlans()}</dl>
        )}
      </div>
      <div class="lx-scroll-x">{isWhole && known && table(known)}</div>
      <div
        class={known && history ? "lx-disk-growth" : "lx-disk-growth lx-unread"}
        hidden={problem !== null || history?.count === 0}
      >
        <div class="lx-quiet">What is there now, by the version that wrote it:</div>
        <Held element={growth.element} />
        <div class="lx-quiet lx-disk-rest">
          {known &&
            known.rest_bytes !== "0" &&
            `Besides, ${bytes(known.rest_bytes)} that none of these versions needs.`}
        </div>
      </div>
    </div>
  );
}

const NUM_PLANS = 3;

/** Lines as grey bars, where text is going to be. */
function waitingLine(width: string) {
  return <i class="lx-disk-waiting" style={{ width }} />;
}

function waitingPlans() {
  return Array.from({ length: NUM_PLANS }, () => (
    <>
      <dt>{"\u00a0"}</dt>
      <dd>
        {waitingLine("60%")}
        {waitingLine("40%")}
      </dd>
    </>
  ));
}

/** Running totals for the versions of a history, from those of versions that may be others. */
export function alignedTo({ versions }: { versions: BigUint64Array }, known: BigUint64Array, totals: Float64Array) {
  const values = new Float64Array(versions.length);
  let at = 0;
  for (const [p, version] of versions.entries()) {
    while (at < known.length && known[at] <= version) at += 1;
    values[p] = at ? totals[at - 1] : 0;
  }
  return values;
}

/** One bar, in parts as wide as they are large. */
function bar({ statuses, sentence }: DiskUsage) {
  return (
    <div class="lx-disk-bar" role="img" aria-label={sentence}>
      {statuses.map(({ words, color, bytes: size }) => (
        <i title={`${words}: ${bytes(size)}`} style={{ background: color, flexGrow: size }} />
      ))}
    </div>
  );
}

function table({ statuses, kinds }: DiskUsage) {
  return (
    <table class="lx-disk">
      <thead>
        <tr>
          <th scope="col" />
          {statuses.map(({ words }) => (
            <th scope="col">{words}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {kinds.map(({ words, bytes: sizes }) => (
          <tr>
            <th scope="row">{words}</th>
            {statuses.map(({ name }) => (
              <td>{name in sizes ? bytes(sizes[name]) : ""}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/**
 * A plan: what comes of it, what it would break, what is lost, and then the call. A call that breaks what others
 * need is not among the plans: `code` does something else then, or is empty.
 */
export function planLines({ title, sentence, sections, code, lines }: Plan, isWhole: boolean) {
  const first = sections.filter(({ name }) => !AFTER_THE_CALL.has(name));
  const more = sectionsOf(sections.filter(({ name }) => AFTER_THE_CALL.has(name)));
  return (
    <>
      <dt>{title}</dt>
      <dd>
        <div>{sentence}</div>
        {sectionsOf(first)}
        {code && (
          <div class="lx-disk-call">
            <code>{code}</code>
            <CopyButton text={lines} title={`Copy:\n${lines}`}>
              Copy
            </CopyButton>
          </div>
        )}
        {isWhole
          ? more.map((section) => <div class="lx-quiet">{section}</div>)
          : more.length > 0 && (
              <details class="lx-quiet">
                <summary>What it takes, and what stays</summary>
                {more}
              </details>
            )}
      </dd>
    </>
  );
}

/** What it takes and what stays need not be read before the call is copied. */
const AFTER_THE_CALL = new Set(["costs", "stays"]);
