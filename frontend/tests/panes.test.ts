import { describe, expect, it } from "vitest";
import { leftWords } from "../src/panes";

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
