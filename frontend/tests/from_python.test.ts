// The browser says and lays out what Python does: see tests/figures/from_python.py.

import { describe, expect, it } from "vitest";
import { growthWords } from "../src/growth_picture";
import type { GrowthArrays } from "../src/messages";
import { bytes, percent, perRow } from "../src/text";
import given from "./from_python.json";

describe("numbers in the words of Python", () => {
  it("are sizes", () => expect(given.sizes.map(([size]) => [size, bytes(size)])).toEqual(given.sizes));
  it("are parts", () => expect(given.shares.map(([share]) => [share, percent(share as number)])).toEqual(given.shares));
  it("are bytes of a row", () =>
    expect(given.per_row.map(([size]) => [size, perRow(size as number)])).toEqual(given.per_row));
});

describe("the growth of row IDs", () => {
  it.each(given.growth)("is told in the words of Python", ({ arrays, words }) => {
    const known = (values: (number | null)[]) => new Float64Array(values.map((value) => value ?? Number.NaN));
    const growth = Object.fromEntries(Object.entries(arrays).map(([name, values]) => [name, known(values)]));
    expect(words.map((_, p) => growthWords(growth as unknown as GrowthArrays, p))).toEqual(words);
  });
});
