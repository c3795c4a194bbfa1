// The browser says and lays out what Python does: see tests/figures/from_python.py.

import { describe, expect, it } from "vitest";
import { fragmentWords, liveShares, mapBars, statesAt, wordsOfSeveral } from "../src/fragment_map";
import { growthWords } from "../src/growth_picture";
import { unpackHistory } from "../src/history";
import type { GrowthArrays, HistoryContent } from "../src/messages";
import { bytes, percent, perRow } from "../src/text";
import given from "./from_python.json";

describe("numbers in the words of Python", () => {
  it("are sizes", () => expect(given.sizes.map(([size]) => [size, bytes(size)])).toEqual(given.sizes));
  it("are parts", () => expect(given.shares.map(([share]) => [share, percent(share as number)])).toEqual(given.shares));
  it("are bytes of a row", () =>
    expect(given.per_row.map(([size]) => [size, perRow(size as number)])).toEqual(given.per_row));
});

describe("the map of fragments", () => {
  it.each(given.maps)("of $name has the columns and words of Python", ({ history: content, buffers, versions }) => {
    const bytesOf = (text: string) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
    const history = unpackHistory({ ...content, buffers: buffers.map(bytesOf) } as unknown as HistoryContent);
    const drawn = versions.map((_, position) => {
      const there = statesAt(history, position).filter(({ mark }) => mark !== "removed");
      return mapBars(history, there, 800).bars.map((bar) => ({
        left: bar.x,
        width: bar.width,
        shares: Object.fromEntries(
          liveShares(history, bar.members).map(([kind, share]) => [history.kinds[kind] ?? "unknown", share]),
        ),
        words: bar.members.length === 1 ? fragmentWords(history, bar.members[0]) : wordsOfSeveral(history, bar),
      }));
    });
    expect(drawn).toEqual(versions);
  });
});

describe("the growth of row IDs", () => {
  it.each(given.growth)("is told in the words of Python", ({ arrays, words }) => {
    const known = (values: (number | null)[]) => new Float64Array(values.map((value) => value ?? Number.NaN));
    const growth = Object.fromEntries(Object.entries(arrays).map(([name, values]) => [name, known(values)]));
    expect(words.map((_, p) => growthWords(growth as unknown as GrowthArrays, p))).toEqual(words);
  });
});
