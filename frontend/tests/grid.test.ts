import { expect, test } from "vitest";
import { pathOf } from "../src/cells";
import { barWords, changedWords } from "../src/changed_values";
import { briefPercent, headWords, rangeWords, rowsOfHeads } from "../src/column_heads";
import { placesWith } from "../src/column_picker";
import { unfolded } from "../src/unfolded";

const HEAD = {
  has_order: true,
  bars: [],
  num_nulls: 0,
  where_null: "n IS NULL",
  num_distinct: "3",
  least: "5",
  middle: "7",
  most: "18446744073709551615",
};

test("heads say of which rows they tell, and all numbers exactly", () => {
  expect(headWords(HEAD, { num_rows: 4, num_total: 4 })).toEqual([
    "Of all 4 rows: no null",
    "3 different values",
    "from 5 to 18446744073709551615",
    "median 7",
  ]);
  expect(headWords({ ...HEAD, num_nulls: 1 }, { num_rows: 1000, num_total: 2e6 })[0]).toBe(
    "Of the first 1,000 of 2,000,000 rows: 1 null (less than 1 %)",
  );
  const values = { ...HEAD, has_order: false, least: null, middle: null, most: null };
  expect(
    headWords({ ...values, bars: [{ label: "Oslo", count: 3, where: null }] }, { num_rows: 4, num_total: 4 }).at(-1),
  ).toBe("most often: Oslo (3)");
  expect(rowsOfHeads({ num_rows: 1, num_total: 1 })).toBe("all 1 row");
});

test("ranges are short", () => {
  expect(rangeWords("0", "99")).toBe("0 – 99");
  expect(rangeWords("-0.4137978134", "12.75")).toBe("-0.414 – 12.75");
  expect(rangeWords("9007199254740992", "9007199254741391")).toBe("≈ 9.01e15");
  expect(rangeWords("2024-01-01 00:00:00.000000", "2026-02-03 10:00:00")).toBe("2024-01-01 – 2026-02-03");
});

test("parts of rows are short, and none is said to be nothing", () => {
  expect([0, 0.001, 0.25, 0.999].map(briefPercent)).toEqual(["0 %", "< 1 %", "25 %", "over 99 %"]);
});

test("columns are found by words in their names", () => {
  const columns = ["photo_id", "taken_at", "Photo taken"].map((name) => ({ name, dtype: "Int64", is_shown: true }));
  expect(placesWith(columns, "")).toEqual([0, 1, 2]);
  expect(placesWith(columns, "PHOTO")).toEqual([0, 2]);
  expect(placesWith(columns, "taken photo")).toEqual([2]);
  expect(placesWith(columns, "nothing")).toEqual([]);
});

test("structs are unfolded and their numbers stay as they are", () => {
  expect(unfolded('{"id":1152921504606846977,"f":[2.0,16.0]}')).toBe(
    '{\n  "id": 1152921504606846977,\n  "f": [2.0, 16.0]\n}',
  );
  expect(unfolded('{"a":"x, {y}: \\" z"}')).toBe('{"a": "x, {y}: \\" z"}');
  expect(unfolded('[{"a":1},{"b":[]}]')).toBe('[\n  {"a": 1},\n  {\n    "b": []\n  }\n]');
  expect(unfolded("[]")).toBe("[]");
});

test("text that was cut is unfolded as far as it goes", () => {
  expect(unfolded('{"a":{"b":"cut he')).toBe('{\n  "a": {\n    "b": "cut he');
  expect(unfolded(`[${"1,".repeat(60)}`).split("\n")).toHaveLength(61);
});

test("a vector is a path with gaps", () => {
  expect(pathOf([0, 0.5, null, 1])).toBe("M0 1L1 0.5M3 0");
  expect(pathOf([])).toBe("");
});

test("values before and after are said in words", () => {
  const spread = { words: "", is_cosine: false, movers: [], bars: [] };
  const column = { name: "score", num_rows: "2", num_read: "2", nulls: [0, 1] as [number, number], ...spread };
  expect(changedWords(column)).toBe("in 2 rows; null 0 % → 50 %");
  expect(changedWords({ ...column, num_rows: "12345", num_read: "10000", nulls: [0, 0] })).toBe(
    "in the first 10,000 of 12,345 rows",
  );
  expect(barWords({ ...column, is_cosine: true, bars: [{ label: "0.10", before: 0, after: 2 }] })).toBe(
    "score, cosine between before and after. from 0.10: 2 rows",
  );
  expect(barWords({ ...column, bars: [{ label: "a", before: 1, after: 0 }] })).toBe(
    "score, before and after. a: 1 before, 0 after",
  );
});
