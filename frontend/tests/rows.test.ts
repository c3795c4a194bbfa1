import { expect, test } from "vitest";
import { filterExample, rowsWords } from "../src/rows_bar";
import { nextSorts } from "../src/rows_heads";
import { isHere } from "../src/rows_pages";
import {
  allRowsHeight,
  firstAt,
  firstWith,
  isCoarse,
  keyTarget,
  lastFirst,
  nearestCell,
  rowsInSight,
  scrollTopOf,
} from "../src/rows_place";
import { columnWidth, numbersWidth } from "../src/rows_widths";

const FEW = { numRows: 100, inSight: 12, rowHeight: 24 };
const MANY = { ...FEW, numRows: 1e9 };

test("the scroll bar stands where the row on top is, and leads back to it", () => {
  expect([FEW, MANY].map(isCoarse)).toEqual([false, true]);
  for (const sight of [FEW, MANY])
    for (const first of [0, 1, 50, lastFirst(sight)]) {
      const top = scrollTopOf(sight, first);
      expect(top).toBeLessThanOrEqual(allRowsHeight(sight) - sight.inSight * sight.rowHeight);
      expect(firstAt(sight, top)).toBe(first);
    }
  expect(scrollTopOf(FEW, 50)).toBe(50 * 24);
});

test("rows that all fit are never scrolled", () => {
  const all = { ...FEW, numRows: 5, inSight: 5 };
  expect([lastFirst(all), scrollTopOf(all, 0), firstAt(all, 300)]).toEqual([0, 0, 0]);
  expect(allRowsHeight({ ...all, numRows: 0 })).toBe(24);
});

test("a row comes in sight by the least scrolling", () => {
  expect([5, 10, 21, 22, 99].map((row) => firstWith(FEW, 10, row))).toEqual([5, 10, 10, 11, 88]);
});

test("keys lead from cell to cell", () => {
  const extent = { inSight: 12, numRows: 100, numColumns: 7 };
  const target = (key: string, isCommand = false) => keyTarget(key, isCommand, { row: 5, column: 3 }, extent);
  expect(target("ArrowUp")).toEqual({ row: 4, column: 3 });
  expect(target("PageUp")).toEqual({ row: 0, column: 3 });
  expect(target("PageDown")).toEqual({ row: 17, column: 3 });
  expect([target("Home"), target("End")]).toEqual([
    { row: 5, column: 0 },
    { row: 5, column: 6 },
  ]);
  expect([target("Home", true), target("End", true)]).toEqual([
    { row: 0, column: 3 },
    { row: 99, column: 3 },
  ]);
  expect(target("Enter")).toBeNull();
});

test("no key leads out of the cells, and up to the head", () => {
  const extent = { numRows: 100, numColumns: 7 };
  expect(nearestCell({ row: -2, column: -1 }, extent)).toEqual({ row: -1, column: 0 });
  expect(nearestCell({ row: 110, column: 7 }, extent)).toEqual({ row: 99, column: 6 });
  expect(nearestCell({ row: 3, column: 2 }, { numRows: 0, numColumns: 0 })).toEqual({ row: -1, column: 0 });
});

test("fewer rows are in sight where they are tall or few", () => {
  const inSight = (numRows: number, rowHeight: number, room: number) => rowsInSight({ numRows, rowHeight }, room);
  expect([inSight(100, 24, 12), inSight(5, 24, 12), inSight(0, 24, 12)]).toEqual([12, 5, 1]);
  expect([inSight(100, 56, 12), inSight(100, 56, 5), inSight(2, 56, 5)]).toEqual([5, 3, 2]);
});

test("a column is sorted up, then down, then no more", () => {
  expect(nextSorts([], 4, false)).toEqual([[4, false]]);
  expect(nextSorts([[4, false]], 4, false)).toEqual([[4, true]]);
  expect(nextSorts([[4, true]], 4, false)).toEqual([]);
  expect(nextSorts([[2, true]], 4, false)).toEqual([[4, false]]);
});

test("others that it is sorted by stay in their order, with Shift", () => {
  const sorts: [number, boolean][] = [
    [2, true],
    [4, false],
    [6, false],
  ];
  expect(nextSorts(sorts, 4, true)).toEqual([
    [2, true],
    [4, true],
    [6, false],
  ]);
  expect(nextSorts(sorts, 2, true)).toEqual(sorts.slice(1));
  expect(nextSorts(sorts, 5, true)).toEqual([...sorts, [5, false]]);
  expect(sorts).toHaveLength(3);
});

test("a page is enough if it has all rows that are wanted", () => {
  const page = { first: 10, positions: [10, 11, 12] };
  const has = (first: number, last: number) => isHere(page, { first, last, around: 40 });
  expect([has(10, 13), has(9, 12), has(11, 14)]).toEqual([true, false, false]);
  expect(isHere(null, { first: 0, last: 0, around: 0 })).toBe(false);
});

test("it is said how many rows there are, match and are selected", () => {
  const rows = { num_rows: 1200, num_source_rows: 1200, num_selected: 0, filter: "", is_expression: false };
  expect(rowsWords(rows)).toBe("1,200 rows");
  expect(rowsWords({ ...rows, num_selected: 3 })).toBe("1,200 rows · 3 selected");
  expect(rowsWords({ ...rows, num_rows: 7, filter: "cat" })).toBe("7 of 1,200 rows with this text");
  expect(rowsWords({ ...rows, num_rows: 7, filter: "id > 3", is_expression: true })).toBe("7 of 1,200 rows match");
  expect(rowsWords({ ...rows, num_rows: 7 })).toBe("7 of 1,200 rows");
});

test("the example of a filter has a column of numbers whose name can be written as it is", () => {
  const columns = [
    { name: "text", is_number: false },
    { name: "two words", is_number: true },
    { name: "score", is_number: true },
  ];
  expect(filterExample(columns)).toBe("Filter: text, or score > 3");
  expect(filterExample(columns.slice(0, 2))).toBe("Filter: text, or an expression");
});

test("columns are as wide as their contents, neither too narrow nor too wide", () => {
  const widths = (isNumber: boolean) =>
    [10, 200, 5000].map((contents) => columnWidth({ kind: "plain", is_number: isNumber }, contents));
  expect(widths(true)).toEqual([77, 221, 321]);
  expect(widths(false)).toEqual([111, 221, 321]);
  expect([9, 1e9].map(numbersWidth)).toEqual([40, 106]);
});
