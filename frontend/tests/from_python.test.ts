// The browser says and lays out what Python does: see tests/figures/from_python.py.

import { describe, expect, it } from "vitest";
import { bytes, percent } from "../src/text";
import given from "./from_python.json";

describe("numbers in the words of Python", () => {
  it("are sizes", () => expect(given.sizes.map(([size]) => [size, bytes(size)])).toEqual(given.sizes));
  it("are parts", () => expect(given.shares.map(([share]) => [share, percent(share as number)])).toEqual(given.shares));
});
