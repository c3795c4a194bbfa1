import { describe, expect, it } from "vitest";
import { timeMarks } from "../src/time_axis";

const at = (iso: string) => Date.parse(iso);
const labels = (first: string, last: string) => timeMarks(at(first), at(last), 5).map(({ label }) => label);

describe("marks on an axis of times", () => {
  it("names what is not said by the mark before", () => {
    expect(labels("2025-10-15T00:00Z", "2026-02-20T00:00Z")).toEqual(["Nov", "Dec", "2026", "Feb"]);
    expect(labels("2026-11-27T13:00Z", "2026-11-28T08:30Z")).toEqual([
      "15:00",
      "18:00",
      "21:00",
      "28 Nov",
      "03:00",
      "06:00",
    ]);
    expect(labels("2026-11-28T08:30:10Z", "2026-11-28T08:30:14Z")).toEqual(
      ["08:30:10", "08:30:11", "08:30:12", "08:30:13", "08:30:14"], // seconds
    );
    expect(labels("2026-11-28T08:29:59.900Z", "2026-11-28T08:30:00.100Z")[1]).toBe("08:29:59.950");
  });

  it("has none without a span", () => {
    expect(timeMarks(at("2026-11-28"), at("2026-11-28"), 5)).toEqual([]);
    expect(timeMarks(Number.NaN, at("2026-11-28"), 5)).toEqual([]);
  });
});
