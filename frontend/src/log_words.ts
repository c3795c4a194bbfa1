// What is said of a commit: how many rows it changed, how much it wrote, what it was made on.

import type { LogAnswer } from "./messages";
import { bytes, count, cut, plural } from "./text";

/** The commits that are shown, newest first, each in a line. */
export type Log = LogAnswer;

const CHANGES = [
  ["rows_added", "+", "added"],
  ["rows_updated", "~", "updated"],
  ["rows_deleted", "−", "deleted"],
  ["rows_overwritten", "−", "overwritten"],
  ["rows_restored", "↺", "restored"],
] as const;

/** How many rows a commit changed, in short and in words. */
export function rowChanges(log: Pick<LogAnswer, (typeof CHANGES)[number][0]>, line: number) {
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

/** What a commit was made on, as far as that is kept; nothing if it is the first. */
export function madeOn(log: Pick<Log, "branch" | "parent_versions" | "parent_branches" | "lost">, line: number) {
  const parent = log.parent_versions[line];
  if (!parent) return "";
  const lost = log.lost[line] ? `; ${plural(log.lost[line], "version")} between are not kept` : "";
  const branch = log.parent_branches[line];
  const on = branch === log.branch[line] ? "" : ` of ${cut(branch ?? "main", 40)}`;
  return `version ${count(parent)}${on}${lost}`;
}

/** Which of the commits that can have changed a column changed values that were there. */
export function changingWords(log: Pick<Log, "keeps_values">, column: string) {
  const others = log.keeps_values.reduce((sum, one) => sum + one, 0);
  const changing = log.keeps_values.length - others;
  const can = `can have changed values of ${cut(column, 60)} in rows that were there`;
  if (!others) return `${changing === 1 ? "This commit" : "All these commits"} ${can}.`;
  const rest = "added, removed or moved rows, or changed the column itself";
  if (!changing) return `None of these commits ${can}: they ${rest}.`;
  return `${plural(changing, "commit")} ${can}. The others, pale, ${rest}.`;
}

/** How many of the commits are shown. */
export function shownWords(log: Pick<Log, "num_found" | "num_commits" | "versions" | "is_part">) {
  const { num_found: found, num_commits: every, versions } = log;
  if (log.is_part) return `the newest ${plural(found, "commit")}; the others are being read…`;
  const shown = versions.length < found ? `the newest ${count(versions.length)} of ` : "";
  return found === every
    ? `${shown}${plural(every, "commit")}`
    : `${shown}${count(found)} of ${plural(every, "commit")}`;
}
