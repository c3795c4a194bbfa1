import { describe, expect, it } from "vitest";
import type { FollowedRow } from "../src/messages";
import { leftWords } from "../src/panes";
import { eventAt } from "../src/row_history";

const row = { row_id: "1", events: ["2", "5", "5", "9"].map((version) => ({ version })) } as unknown as FollowedRow;

describe("the event that made a row what it is in a version", () => {
  it("is the last one up to that version", () => {
    expect(["1", "2", "4", "5", "8", "9", "99999999999999999999"].map((version) => eventAt(row, version))).toEqual([
      -1, 0, 0, 2, 2, 3, 3,
    ]);
  });

  it("is the last one if no version is chosen", () => {
    expect(eventAt(row, null)).toBe(3);
    expect(eventAt({ ...row, events: [] }, "3")).toBe(-1);
  });
});

describe("how long something is going to take", () => {
  const progress = (fraction: number | null) => ({ text: "Reading", fraction });
  it("is said once enough of it is done", () => {
    expect(leftWords(progress(null), 9000)).toBe("");
    expect(leftWords(progress(0.01), 9000)).toBe("");
    expect(leftWords(progress(0.5), 500)).toBe("");
    expect(leftWords(progress(0.25), 4000)).toBe(", about 12 s left");
    expect(leftWords(progress(0.1), 40_000)).toBe(", about 6 min left");
    expect(leftWords(progress(0.99), 4000)).toBe("");
  });
});
