import { describe, expect, it, test } from "vitest";
import {
  absoluteTime,
  addressText,
  bytes,
  count,
  cut,
  duration,
  finePercent,
  listedTime,
  percent,
  perRow,
  plural,
  relativeTime,
  shortId,
  visible,
} from "../src/text";

describe("text from files", () => {
  it.each([
    ["tab\tand\nline", "tab\\tand\\nline"],
    ["turned \u202e around", "turned \\u202e around"],
    ["zero\u0000", "zero\\x00"],
    ["thin\u2009space", "thin\\u2009space"],
    ["plain words, ümlaut, 漢字", "plain words, ümlaut, 漢字"],
  ])("%j is shown as %j", (text, shown) => expect(visible(text)).toBe(shown));

  it.each(["👩‍👩‍👧‍👦", "🏳️‍🌈", "❤️", "👍🏽", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🇩🇪"])("%s stays whole", (emoji) =>
    expect(visible(`a ${emoji} b`)).toBe(`a ${emoji} b`),
  );

  it.each([
    ["a joiner\u200dbetween letters", "a joiner\\u200dbetween letters"],
    ["a joiner at the end 👩\u200d", "a joiner at the end 👩\\u200d"],
    ["a mark after a letter a\ufe0f", "a mark after a letter a\ufe0f"],
    ["tags without a flag \u{e0061}", "tags without a flag \\U000e0061"],
  ])("%j hides nothing", (text, shown) => expect(visible(text)).toBe(shown));

  it("is cut at a length that is told, never through a character", () => {
    expect(cut("abcdef", 4)).toBe("abcd… (4 of 6 characters)");
    expect(cut("abc👩‍👩‍👧‍👦def", 4)).toBe("abc👩‍👩‍👧‍👦… (4 of 7 characters)");
    expect(cut("👍👍", 2)).toBe("👍👍");
  });
});

describe("numbers", () => {
  it("keep all digits of 64 bits", () => {
    expect(count("18446744073709551615")).toBe("18,446,744,073,709,551,615");
    expect(count(9007199254740993n)).toBe("9,007,199,254,740,993");
    expect(addressText(String(3n * 2n ** 32n + 17n))).toBe("3:17");
  });
  it("may be unknown", () => expect(bytes(null)).toBe("unknown size"));
  test.each([
    [0, "0 %"],
    [0.0001, "less than 1 %"],
    [0.5, "50 %"],
    [0.999, "over 99 %"],
    [1, "100 %"],
  ])("a part of %s is %s", (share, words) => expect(percent(share)).toBe(words));
  test.each([
    [0, "0 %"],
    [0.0001, "under 0.1 %"],
    [0.034, "3.4 %"],
    [0.34, "34 %"],
    [0.9999, "over 99.9 %"],
    [1, "100 %"],
  ])("a part of %s is %s, where it matters", (share, words) => expect(finePercent(share)).toBe(words));
  it("go with their nouns", () => {
    expect(plural(1, "row")).toBe("1 row");
    expect(plural("2000", "index", "indices")).toBe("2,000 indices");
    expect([0, 0.001, 0.42, 12.34, null].map(perRow)).toEqual(["0 B", "< 0.01 B", "0.42 B", "12.3 B", "unknown"]);
    expect(shortId("123456789")).toBe("…3456789");
  });
});

describe("times", () => {
  it("are told in UTC, absolute and relative", () => {
    expect(absoluteTime("2026-11-21T08:01:07.5Z")).toBe("2026-11-21 08:01:07 UTC");
    expect(absoluteTime(null)).toBe("at an unknown time");
    const now = Date.parse("2026-11-21T08:00:00Z");
    expect(relativeTime("2026-11-18T08:00:00", now)).toBe("3 days ago");
    expect(relativeTime("2026-11-21T08:00:00Z", now)).toBe("now");
    expect(relativeTime("2025-04-07T08:00:00Z", now)).toBe("19 months ago");
    expect(relativeTime("2023-11-20T08:00:00Z", now)).toBe("3 years ago");
    expect(listedTime("2026-11-18T08:00:00", now)).toBe("3 days ago");
    expect(listedTime("2026-01-12T11:00:00Z", now)).toBe("12 Jan 2026");
    expect(listedTime(null, now)).toBe("");
  });
  it("have a distance", () => {
    expect(duration(["2026-11-21T08:00:00Z", "2026-11-21T08:00:00.5Z"])).toBe("less than a second");
    expect(duration(["2026-11-21T08:00:00Z", "2026-11-23T08:00:00Z"])).toBe("2 days");
  });
});
