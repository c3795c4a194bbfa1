// Where commits are in the log: a line for each version of each branch.

import type { LogAnswer } from "./messages";

type Places = Pick<LogAnswer, "branch"> & Pick<LogAnswer, "versions">;

/** A commit: its branch, null for main, and its version. */
export interface CommitPlace {
  branch: string | null;
  version: string;
}

export function placeOf(log: Places, line: number): CommitPlace {
  return { branch: log.branch[line], version: String(log.versions[line]) };
}

/** Gives the line of a version of a branch, -1 if there is none. */
export function lineFinder({ branch, versions }: Places) {
  const lines = new Map<string | null, Map<bigint, number>>();
  for (const name of new Set(branch)) lines.set(name, new Map());
  for (const [line, version] of versions.entries()) lines.get(branch[line])?.set(version, line);
  return (place: CommitPlace) => lines.get(place.branch)?.get(BigInt(place.version)) ?? -1;
}

/** The commits that came after those of an earlier log, as `branch@version`. */
export function cameSince(log: Places, earlier: Places) {
  const newest = new Map<string | null, bigint>();
  for (const [line, branch] of earlier.branch.entries())
    if (earlier.versions[line] > (newest.get(branch) ?? -1n)) newest.set(branch, earlier.versions[line]);
  return [...log.branch.entries()]
    .filter(([line, branch]) => log.versions[line] > (newest.get(branch) ?? -1n))
    .map(([line]) => commitKey(log, line));
}

export function commitKey({ branch, versions }: Places, line: number) {
  return `${branch[line] ?? ""}@${versions[line]}`;
}
