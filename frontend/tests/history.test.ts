import { describe, expect, it, vi } from "vitest";
import { statesAt } from "../src/fragment_map";
import { historyOf } from "../src/history";
import type { VersionData } from "../src/messages";
import { STRIP, stepPath, stripScale } from "../src/version_axis";

function sent(arrays: Partial<VersionData>, first = "1"): VersionData {
  return {
    name: "people.lance",
    branch: null,
    kinds: ["append", "delete"],
    operations: ["Append", null, "Delete"],
    tags: [{ name: "gold", position: 1 }],
    gaps: first === "1" ? [] : [{ first: "1", last: first, reason: "cleaned up" }],
    messages: [],
    recorded_words: "",
    ...arrays,
  } as VersionData;
}

const VERSIONS = new BigUint64Array([4n, 5n, 9n]);
const TIMES = new Float64Array([0, Number.NaN, 86_400_000]);

describe("a history from Python", () => {
  const history = historyOf(sent({ versions: VERSIONS, times: TIMES }, "3"));

  it("knows its gaps, also the one before the first version", () => {
    expect(history.gapBefore).toEqual([true, false, true]);
    expect(historyOf(sent({ versions: VERSIONS, times: TIMES })).gapBefore).toEqual([false, false, true]);
  });
  it("finds versions exactly, or the last one before", () => {
    expect(["4", "6", "9"].map(history.positionOf)).toEqual([0, undefined, 2]);
    expect(["1", "4", "8", "18446744073709551615"].map(history.positionUpTo)).toEqual([-1, 0, 1, 2]);
  });
  it("says what is not known", () => {
    expect([0, 1, 2].map(history.operationAt)).toEqual(["Append", "unknown operation", "Delete"]);
    expect([0, 1].map(history.timeAt)).toEqual(["1970-01-01T00:00:00.000Z", null]);
    expect([0, 1].map(history.tagsAt)).toEqual([[], ["gold"]]);
  });
});

describe("versions on an axis", () => {
  it("stand in their order, within the picture, at any number", () => {
    for (const count of [1, 2, 45, 100_000]) {
      const gapBefore = Array.from({ length: count }, (_, p) => p % 7 === 3);
      const scale = stripScale({ count, gapBefore }, 800);
      expect(scale.left[0]).toBeGreaterThanOrEqual(STRIP.side);
      expect(scale.left[count - 1] + scale.unit).toBeLessThanOrEqual(800 - STRIP.side + 1e-6);
      for (const position of [0, Math.floor(count / 2), count - 1]) {
        expect(scale.positionAt(scale.center(position))).toBe(position);
      }
      expect([scale.positionAt(-1e9), scale.positionAt(1e9)]).toEqual([0, count - 1]);
    }
  });
});

describe("a path in steps", () => {
  class Path {
    places: (string | number)[][] = [];
    moveTo = (x: number, y: number) => this.places.push(["to", x, y]);
    lineTo = (x: number, y: number) => this.places.push([x, y]);
  }
  vi.stubGlobal("Path2D", Path);
  const history = historyOf(sent({ versions: new BigUint64Array([1n, 2n, 5n, 6n, 7n]), times: new Float64Array(5) }));
  const scale = { ...stripScale(history, 800), left: new Float64Array([0, 10, 30, 40, 50]), unit: 10 };
  const placesOf = (values: number[], floor?: number) =>
    (stepPath(history, scale, new Float64Array(values), (value) => -value, floor) as unknown as Path).places;

  it("is broken by gaps, and where a value is not known", () => {
    expect(placesOf([1, 2, 3, Number.NaN, 4])).toEqual([
      ["to", 0, -1],
      ...[
        [0, -1],
        [10, -1],
        [10, -2],
        [20, -2],
      ],
      ["to", 30, -3],
      ...[
        [30, -3],
        [40, -3],
      ],
      ["to", 50, -4],
      ...[
        [50, -4],
        [60, -4],
      ],
    ]);
    expect(placesOf(Array(5).fill(Number.NaN))).toEqual([]);
  });
  it("begins and ends each part of an area at its floor", () => {
    expect(placesOf([1, 1, 3, 3, Number.NaN], 9)).toEqual([
      ["to", 0, 9],
      ...[
        [0, -1],
        [10, -1],
        [10, -1],
        [20, -1],
        [20, 9],
      ],
      ["to", 30, 9],
      ...[
        [30, -3],
        [40, -3],
        [40, -3],
        [50, -3],
        [50, 9],
      ],
    ]);
  });
});

describe("fragments at a version", () => {
  const history = historyOf(
    sent({
      versions: new BigUint64Array([1n, 2n, 3n]),
      times: new Float64Array(3),
      state_slot: new Int32Array([0, 0, 1, 2]),
      state_first: new Int32Array([0, 1, 0, 1]),
      state_last: new Int32Array([0, 2, 1, 2]),
      state_made_at: new Int32Array([0, 0, 0, 1]),
    }),
  );

  it("are new, changed, removed or as they were", () => {
    const marks = (position: number) => statesAt(history, position).map(({ index, mark }) => [index, mark]);
    expect(marks(0)).toEqual([
      [0, null],
      [2, null],
    ]);
    expect(marks(1)).toEqual([
      [1, "changed"],
      [2, null],
      [3, "new"],
    ]);
    expect(marks(2)).toEqual([
      [1, null],
      [2, "removed"],
      [3, null],
    ]);
  });
});
