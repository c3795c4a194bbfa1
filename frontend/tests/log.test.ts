import { expect, test } from "vitest";
import { bytesChange, rowChanges } from "../src/log";
import { edgesInSight, lanesWidth } from "../src/log_lanes";

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
