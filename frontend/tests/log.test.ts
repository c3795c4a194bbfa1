import { expect, test } from "vitest";
import { edgesInSight, lanesWidth } from "../src/log_lanes";
import { mostDigits } from "../src/log_lines";
import { cameSince, lineFinder, placeOf } from "../src/log_places";
import { bytesChange, changingWords, madeOn, rowChanges, shownWords } from "../src/log_words";

const NONE = {
  rows_added: Float64Array.of(0),
  rows_updated: Float64Array.of(0),
  rows_deleted: Float64Array.of(0),
  rows_overwritten: Float64Array.of(0),
  rows_restored: Float64Array.of(0),
};

test("changed rows are told in short and in words", () => {
  const changes = { ...NONE, rows_added: Float64Array.of(1200), rows_deleted: Float64Array.of(1) };
  expect(rowChanges(changes, 0)).toEqual({ short: "+1,200 −1", words: "1,200 rows added, 1 row deleted" });
  expect(rowChanges(NONE, 0)).toEqual({ short: "", words: "" });
});

test("a number of rows that is not known is not left out", () => {
  expect(rowChanges({ ...NONE, rows_updated: Float64Array.of(Number.NaN) }, 0).short).toBe("?");
});

test("a change of bytes has its sign", () => {
  expect(bytesChange(1500)).toBe("+1.5 kB");
  expect(bytesChange(-20)).toBe("−20 bytes");
  expect([bytesChange(0), bytesChange(Number.NaN)]).toEqual(["", ""]);
});

test("edges that pass what is in sight are drawn, others are not", () => {
  const log = {
    parent: Int32Array.of(1, 4, 3, 4, -1),
    lane: Int32Array.of(1, 1, 0, 0, 0),
    lost: Float64Array.of(0, 0, 2, 0, 0),
  };
  const ends = (first: number, last: number) => edgesInSight(log, first, last).map(({ from, to }) => [from, to]);
  expect(ends(0, 0)).toEqual([[0, 1]]);
  expect(ends(2, 2)).toEqual([
    [1, 4],
    [2, 3],
  ]);
  expect(ends(4, 9)).toEqual([
    [1, 4],
    [3, 4],
  ]);
  expect(edgesInSight(log, 2, 2)[1].isBroken).toBe(true);
});

test("many lanes take no more room than twelve", () => {
  expect(lanesWidth(1)).toBe(24);
  expect(lanesWidth(3)).toBe(52);
  expect(lanesWidth(500)).toBe(lanesWidth(12));
});

const LOG = {
  branch: ["trial", null, "trial", null],
  versions: BigUint64Array.of(3n, 2n, 2n, 1n),
  parent_versions: ["2", "1", "1", null],
  parent_branches: ["trial", null, null, null],
  lost: Float64Array.of(0, 2, 0, 0),
};

test("a commit says what it was made on", () => {
  expect([0, 1, 2, 3].map((line) => madeOn(LOG, line))).toEqual([
    "version 2",
    "version 1; 2 versions between are not kept",
    "version 1 of main",
    "",
  ]);
});

test("a version has a line of its own on each branch", () => {
  const lineOf = lineFinder(LOG);
  expect([0, 1, 2, 3].map((line) => lineOf(placeOf(LOG, line)))).toEqual([0, 1, 2, 3]);
  expect(lineOf({ branch: null, version: "3" })).toBe(-1);
  expect(lineOf({ branch: "other", version: "1" })).toBe(-1);
});

test("commits that came since are newer than all of their branch", () => {
  const earlier = { branch: [null, null], versions: BigUint64Array.of(2n, 1n) };
  expect(cameSince(LOG, earlier)).toEqual(["trial@3", "trial@2"]);
  expect(cameSince(LOG, LOG)).toEqual([]);
});

test("it is said how many commits are shown", () => {
  const shown = { ...LOG, num_found: 4, num_commits: 4, is_part: false };
  expect(shownWords(shown)).toBe("4 commits");
  expect(shownWords({ ...shown, num_found: 9, num_commits: 1200 })).toBe("the newest 4 of 9 of 1,200 commits");
  expect(shownWords({ ...shown, is_part: true })).toBe("the newest 4 commits; the others are being read…");
});

test("versions have room for the longest of them", () => {
  expect([1n, 99n, 100000n, 2n ** 64n - 1n].map((most) => mostDigits(BigUint64Array.of(1n, most, 1n)))).toEqual([
    1, 2, 6, 20,
  ]);
  expect(mostDigits(BigUint64Array.of())).toBe(1);
});

test("a filter by column sets apart commits that kept its values", () => {
  const words = (...flags: number[]) => changingWords({ keeps_values: Uint8Array.from(flags) }, "score");
  expect(words(0, 1, 0)).toBe(
    "2 commits can have changed values of score in rows that were there. " +
      "The others, pale, added, removed or moved rows, or changed the column itself.",
  );
  expect(words(0)).toMatch(/^This commit can have changed/);
  expect(words(0, 0)).toMatch(/^All these commits can/);
  expect(words(1, 1)).toMatch(/^None of these commits can .* they added, removed/);
});
