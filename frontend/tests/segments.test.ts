import { describe, expect, test } from "vitest";
import { rowAfter, rowOf } from "../src/segments";

describe("rows of fragments", () => {
  const rows: [string, string, number][] = [
    ["0", "4", 5],
    ["7", "7", 1],
    ["9", "18446744073709551615", 3],
  ];

  test("a fragment is in the row that spans it, if one does", () => {
    expect(["4", "7", "18446744073709551614"].map((id) => rowOf({ rows }, id))).toEqual([0, 1, 2]);
    expect(["5", "8"].map((id) => rowOf({ rows }, id))).toEqual([-1, -1]);
  });

  test.each([
    ["ArrowDown", 4, 5],
    ["ArrowDown", 29, 29],
    ["ArrowDown", -1, 0],
    ["ArrowUp", 4, 3],
    ["ArrowUp", 0, 0],
    ["ArrowUp", -1, 29],
    ["PageDown", 4, 14],
    ["PageDown", 25, 29],
    ["PageUp", 14, 4],
    ["PageUp", -1, 0],
    ["Home", 4, 0],
    ["End", 4, 29],
    ["x", 4, null],
  ])("%s leads from row %i of 30 to %s", (key, now, row) => {
    expect(rowAfter(key, now, 30)).toBe(row);
  });
});
