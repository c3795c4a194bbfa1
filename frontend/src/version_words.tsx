// What is said of a version under the pointer: as version_words.py in Python says it.

import type { History } from "./history";
import { absoluteTime, bytes, count, cut, oneLine, plural } from "./text";

export interface VersionFacts {
  version: bigint | number | string;
  origin?: string;
  operation: string | null;
  /** ISO text in UTC. */
  time: string | null;
  /** Rows, fragments and bytes of data, NaN where one is not known. */
  counts?: [number, number, number];
  tags: string[];
  message?: string | null;
  isRecorded: boolean;
}

/** What is said of a version: lines, the first of them a title. */
export function versionWords(facts: VersionFacts): string[] {
  const of = facts.origin === undefined ? "" : ` of ${oneLine(facts.origin, 40)}`;
  return [
    `Version ${count(facts.version)}${of} · ${oneLine(facts.operation || "unknown operation")}`,
    absoluteTime(facts.time),
    ...(facts.counts ? [countWords(facts.counts)] : []),
    ...(facts.tags.length ? [`⚑ ${facts.tags.map((name) => oneLine(name, 40)).join(", ")}`] : []),
    ...(facts.message ? [`“${oneLine(facts.message, 60)}”`] : []),
    ...(facts.isRecorded ? ["known from the ledger"] : []),
  ];
}

function countWords([rows, fragments, data]: [number, number, number]) {
  const told = Number.isNaN(rows) ? "an unknown number of rows" : plural(rows, "row");
  const within = Number.isNaN(fragments) ? "an unknown number of fragments" : plural(fragments, "fragment");
  return `${told} in ${within}, ${Number.isNaN(data) ? "data of unknown size" : `${bytes(data)} of data`}`;
}

/** What a tooltip says of a version of the history, with what the commit did. */
export function describeVersion(history: History, p: number) {
  const lines = versionWords({
    version: history.versions[p],
    operation: history.operations[p],
    time: history.timeAt(p),
    counts: [history.num_rows[p], history.num_fragments[p], history.data_bytes[p]],
    tags: history.tagsAt(p),
    message: history.messages[p],
    isRecorded: Boolean(history.is_recorded[p]),
  });
  const [title, ...facts] = linesOf(lines);
  const before = history.gapBefore[p] && p > 0 ? [history.versions[p - 1] + 1n, history.versions[p] - 1n] : null;
  return (
    <>
      {title}
      {facts[0]}
      <div>{history.wordsOf(p)}</div>
      {facts.slice(1)}
      {before && (
        <div class="lx-quiet">
          versions {count(before[0])} to {count(before[1])} are not kept
        </div>
      )}
    </>
  );
}

interface TotalProps {
  of: { name: string; branch: string | null; count?: number; recorded_words?: string } | null;
}

/** Which table and branch a view is of, which the explorer says already; and how many versions it has. */
export function Total({ of }: TotalProps) {
  if (!of) return <span class="lx-total" />;
  const branch = of.branch === null ? "" : `, branch ${cut(of.branch, 40)}`;
  return (
    <span class="lx-quiet lx-total">
      <span class="lx-of-table">
        {cut(of.name, 60)}
        {branch}
        {of.count !== undefined && ": "}
      </span>
      {of.count !== undefined && plural(of.count, "version")}
      {of.recorded_words && `; ${of.recorded_words}`}
    </span>
  );
}

/** Lines as elements, the first of them a title. */
export function linesOf([title, ...facts]: string[]) {
  return [<strong>{title}</strong>, ...facts].map((line) => <div>{line}</div>);
}
