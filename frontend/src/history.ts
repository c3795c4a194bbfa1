// All versions of a table, as Python tells them once.

import type { VNode } from "preact";
import { type AskWords, commitWords } from "./commit_words";
import type { VersionData } from "./messages";
import { isoTime } from "./text";

/** All versions of a table, with what pictures ask of them. */
export interface History extends VersionData {
  count: number;
  /** Whether versions are missing before the one at a position. */
  gapBefore: boolean[];
  positionOf: (version: string) => number | undefined;
  positionUpTo: (version: string) => number;
  operationAt: (position: number) => string;
  timeAt: (position: number) => string | null;
  tagsAt: (position: number) => string[];
  /** The words on a commit; they are asked for if they are not here yet. */
  wordsOf: (position: number) => VNode;
}

const noWords = async () => ({});

/** Return the versions from Python, with what the pictures ask of them. */
export function historyOf<Data extends VersionData>(content: Data, ask: AskWords = noWords): History & Data {
  const { versions } = content;
  const positions = new Map(Array.from(versions, (version, position) => [String(version), position] as const));
  const firstLost = content.gaps.some(({ first }) => versions.length > 0 && BigInt(first) < versions[0]);
  return {
    ...content,
    count: versions.length,
    gapBefore: Array.from(versions, (version, p) => (p === 0 ? firstLost : version !== versions[p - 1] + 1n)),
    positionOf: (version: string) => positions.get(version),
    /** The last kept version up to one; -1 before all. */
    positionUpTo(version: string) {
      const exact = positions.get(version);
      if (exact !== undefined) return exact;
      const wanted = BigInt(version);
      return versions.findLastIndex((kept) => kept <= wanted);
    },
    operationAt: (p: number) => content.operations[p] ?? "unknown operation",
    timeAt: (p: number) => isoTime(content.times[p]),
    wordsOf: commitWords(versions, ask),
    tagsAt: (p: number) => content.tags.filter(({ position }) => position === p).map(({ name }) => name),
  };
}
