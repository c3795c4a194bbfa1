// What is said of two versions, and what an end of the range takes with it.

import type { History } from "./history";
import type { Comparison } from "./messages";
import { count, duration } from "./text";

/** Two versions, the earlier first; version 0 is the empty table. */
export interface Range {
  begin: string;
  end: string;
}

type Kept = Pick<History, "versions" | "count" | "positionUpTo">;

export function versionName(version: string) {
  return version === "0" ? "the empty table" : `version ${count(version)}`;
}

/** The two versions, the earlier first. */
export function ordered(one: string, other: string): Range {
  return BigInt(one) <= BigInt(other) ? { begin: one, end: other } : { begin: other, end: one };
}

/** The lowest position there is to compare with: -1, the empty table, if version 1 is kept. */
export function lowestPosition({ versions }: Pick<Kept, "versions">) {
  return versions[0] === 1n ? -1 : 0;
}

export function versionAt({ versions }: Pick<Kept, "versions">, position: number) {
  return position < 0 ? "0" : String(versions[position]);
}

/** What the commit of a position is compared with: the version before that is kept, or the empty table. */
export function versionBefore(history: Pick<Kept, "versions">, position: number) {
  return versionAt(history, Math.max(position - 1, lowestPosition(history)));
}

/**
 * The range with another end; the other one goes along where it would be on the wrong side, and
 * `told` says so.
 */
export function withEnd(history: Kept, { begin, end }: Range, name: keyof Range, version: string) {
  const position = history.positionUpTo(version);
  if (name === "begin") {
    if (BigInt(version) <= BigInt(end)) return { begin: version, end, told: "" };
    const next = versionAt(history, Math.min(position + 1, history.count - 1));
    const told = `“to” was set to ${versionName(next)}, too: it cannot be before version ${count(version)}.`;
    return { begin: version, end: next, told };
  }
  if (BigInt(version) >= BigInt(begin)) return { begin, end: version, told: "" };
  const before = versionBefore(history, position);
  const told = `“From” was set to ${versionName(before)}, too: it cannot be after ${versionName(version)}.`;
  return { begin: before, end: version, told };
}

/** The range of a button: all kept versions, or the commit that the range ends with. */
export function presetRange(history: Kept, name: string, end: string): Range {
  if (name === "all") {
    const first = history.versions[0] === 1n && history.count === 1 ? "0" : versionAt(history, 0);
    return { begin: first, end: versionAt(history, history.count - 1) };
  }
  const position = Math.max(history.positionUpTo(end), 0);
  return { begin: versionBefore(history, position), end: versionAt(history, position) };
}

/** How many commits of each kind lead from one version to the other, by the number of the kind. */
export function commitKinds(history: Pick<History, "kind" | "positionUpTo">, { begin, end }: Range) {
  const kinds = new Map<number, number>();
  for (let p = history.positionUpTo(begin) + 1; p <= history.positionUpTo(end); p += 1)
    kinds.set(history.kind[p], (kinds.get(history.kind[p]) ?? 0) + 1);
  return [...kinds].sort(([a], [b]) => a - b);
}

/** The two versions as a heading. */
export function rangeHeading({ begin, end }: Range) {
  const words = begin === end ? `${versionName(end)} with itself` : `${versionName(begin)} → ${versionName(end)}`;
  return words[0].toUpperCase() + words.slice(1);
}

/** How far two versions are apart, nothing where that is not known or nothing is between. */
export function apartWords({ begin, end }: Range, times: (string | null)[]) {
  return times[0] && times[1] && begin !== end ? `${duration([times[0], times[1]])} · ` : "";
}

type Found = Pick<Comparison, "classes" | "cells" | "change" | "beside">;

/** Whether a row differs in any way, or may do so. */
export function hasRows({ classes }: Pick<Found, "classes">) {
  return (classes ?? []).some(({ num_rows }) => num_rows !== "0");
}

/** Whether counts alone do not tell that some values differ. */
export function mayBeSame({ classes, cells }: Pick<Found, "classes" | "cells">) {
  if (!classes || !cells) return false;
  const rows = Object.fromEntries(classes.map(({ name, num_rows }) => [name, num_rows]));
  return rows.inserted === rows.deleted && !cells.columns.some(({ num_rows }) => num_rows !== "0");
}

/** What the lines are; or, where there is none, what lists the rows that were not written. */
export function linesHint({ classes, change, beside }: Found) {
  const has = (name: string) => classes?.some((one) => one.name === name && one.num_rows !== "0");
  const isEmpty = classes && !change && !["inserted", "deleted", "updated", "column_rewritten"].some(has);
  if (!isEmpty) return "Each row is a line; cells that changed show old → new.";
  const unwritten = ["moved", "column_added"].filter(has).map((name) => `“${name.replace("_", " ")}”`);
  if (unwritten.length) return `No values changed. A click on ${unwritten.join(" or ")} lists those rows.`;
  return beside.length
    ? "No row differs; what did change is listed above."
    : "No row differs, and nothing else: schema, indices and configuration are the same.";
}
