import { describe, expect, it } from "vitest";
import { timeMarks, timeWithin } from "../src/time_axis";

const at = (iso: string) => Date.parse(iso);

describe("times along a picture", () => {
  it("are as long as the span asks for", () => {
    const time = at("2026-11-28T14:05:30Z");
    expect(timeWithin(time, 60_000, null)).toBe("28 Nov 14:05:30");
    expect(timeWithin(time, 3_600_000, null)).toBe("28 Nov 14:05");
    expect(timeWithin(time, 30 * 86_400_000, null)).toBe("28 Nov 2026");
  });

  it("leave out what the one before says", () => {
    const time = at("2026-11-28T14:05:30Z");
    expect(timeWithin(time, 3_600_000, at("2026-11-28T13:00Z"))).toBe("14:05");
    expect(timeWithin(time, 86_400_000, at("2026-11-27T23:00Z"))).toBe("28 Nov 14:05");
    expect(timeWithin(time, 1e11, at("2026-01-01T00:00Z"))).toBe("28 Nov");
    expect(timeWithin(time, 1e11, at("2025-12-31T00:00Z"))).toBe("28 Nov 2026");
  });

  it("stand evenly between two others", () => {
    const marks = timeMarks(at("2026-11-01T00:00Z"), at("2026-11-05T00:00Z"), 3);
    expect(marks.map(({ label }) => label)).toEqual(["2 Nov 2026", "3 Nov", "4 Nov"]);
    expect(marks.map((mark) => mark.at)).toEqual([2, 3, 4].map((day) => at(`2026-11-0${day}T00:00Z`)));
  });

  it("are none without a span", () => {
    expect(timeMarks(at("2026-11-28"), at("2026-11-28"), 5)).toEqual([]);
    expect(timeMarks(Number.NaN, at("2026-11-28"), 5)).toEqual([]);
  });
});
