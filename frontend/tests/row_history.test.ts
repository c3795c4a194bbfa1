import { expect, test } from "vitest";
import { eventAt } from "../src/row_history";

const EVENTS = ["3", "7", "7", "12"].map((version) => ({ version }));

test("in each version a row is as its last event up to then left it", () => {
  expect(["3", "6", "7", "11", "12", "99"].map((version) => eventAt(EVENTS, version))).toEqual([0, 0, 2, 2, 3, 3]);
});

test("before a row was there, its first event is shown; without a version, its last one", () => {
  expect(eventAt(EVENTS, "1")).toBe(0);
  expect(eventAt(EVENTS, null)).toBe(3);
  expect(eventAt([], "1")).toBe(-1);
});
