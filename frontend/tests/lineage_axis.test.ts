import { expect, test } from "vitest";
import { freeRow } from "../src/lineage_axis";

test("a label has room where none touches it, on either side", () => {
  const row = freeRow(6);
  expect(row.take(100, 40)).toBe(true);
  expect(row.take(60, 20)).toBe(true);
  expect(row.take(75, 10)).toBe(false);
  expect(row.take(130, 10)).toBe(false);
  expect(row.take(132, 10)).toBe(true);
});
