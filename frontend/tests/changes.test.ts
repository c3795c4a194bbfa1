import { expect, test } from "vitest";
import {
  apartWords,
  commitKinds,
  hasRows,
  linesHint,
  lowestPosition,
  mayBeSame,
  ordered,
  presetRange,
  rangeHeading,
  withEnd,
} from "../src/changes_words";

/** Versions that are kept, each of a kind. */
function kept(...versions: bigint[]) {
  return {
    versions: BigUint64Array.from(versions),
    count: versions.length,
    kind: Uint8Array.from(versions, (version) => Number(version % 3n)),
    positionUpTo: (version: string) => versions.findLastIndex((other) => other <= BigInt(version)),
  };
}

const ALL = kept(1n, 2n, 3n, 4n, 5n);
const LATER = kept(4n, 5n, 9n);

test("of two versions the earlier is the first, also beyond what floats hold", () => {
  expect(ordered("10", "9")).toEqual({ begin: "9", end: "10" });
  expect(ordered("9007199254740993", "9007199254740992").begin).toBe("9007199254740992");
});

test("an end that is set goes where it was set to", () => {
  expect(withEnd(ALL, { begin: "2", end: "4" }, "begin", "3")).toEqual({ begin: "3", end: "4", told: "" });
  expect(withEnd(ALL, { begin: "2", end: "4" }, "end", "2")).toEqual({ begin: "2", end: "2", told: "" });
});

test("the other end goes along where it would be on the wrong side", () => {
  expect(withEnd(ALL, { begin: "1", end: "2" }, "begin", "4")).toEqual({
    begin: "4",
    end: "5",
    told: "“to” was set to version 5, too: it cannot be before version 4.",
  });
  expect(withEnd(ALL, { begin: "1", end: "2" }, "begin", "5")).toMatchObject({ begin: "5", end: "5" });
  expect(withEnd(ALL, { begin: "3", end: "4" }, "end", "1")).toEqual({
    begin: "0",
    end: "1",
    told: "“From” was set to the empty table, too: it cannot be after version 1.",
  });
  expect(withEnd(LATER, { begin: "9", end: "9" }, "end", "4")).toMatchObject({ begin: "4", end: "4" });
});

test("the empty table is before version 1 alone", () => {
  expect([lowestPosition(ALL), lowestPosition(LATER)]).toEqual([-1, 0]);
});

test("buttons choose one commit or all versions", () => {
  expect(presetRange(ALL, "one", "3")).toEqual({ begin: "2", end: "3" });
  expect(presetRange(ALL, "one", "1")).toEqual({ begin: "0", end: "1" });
  expect(presetRange(LATER, "one", "4")).toEqual({ begin: "4", end: "4" });
  expect(presetRange(LATER, "all", "5")).toEqual({ begin: "4", end: "9" });
  expect(presetRange(kept(1n), "all", "1")).toEqual({ begin: "0", end: "1" });
});

test("commits between are counted by kind, without that of the first version", () => {
  expect(commitKinds(ALL, { begin: "1", end: "5" })).toEqual([
    [0, 1],
    [1, 1],
    [2, 2],
  ]);
  expect(commitKinds(ALL, { begin: "0", end: "1" })).toEqual([[1, 1]]);
  expect(commitKinds(ALL, { begin: "3", end: "3" })).toEqual([]);
});

test("the heading names both versions", () => {
  expect(rangeHeading({ begin: "0", end: "1200" })).toBe("The empty table → version 1,200");
  expect(rangeHeading({ begin: "2", end: "2" })).toBe("Version 2 with itself");
  const times = ["2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z"];
  expect(apartWords({ begin: "1", end: "2" }, times)).toBe("2 days · ");
  expect([apartWords({ begin: "2", end: "2" }, times), apartWords({ begin: "1", end: "2" }, [null, times[1]])]).toEqual(
    ["", ""],
  );
});

const classes = (counts: Record<string, string>) =>
  Object.entries(counts).map(([name, num_rows]) => ({ name, num_rows, words: name, color: "#000" }));

test("lines that are not there are explained", () => {
  const found = { classes: classes({ inserted: "0", moved: "3" }), cells: null, change: null, beside: [] };
  expect(linesHint(found)).toBe("No values changed. A click on “moved” lists those rows.");
  expect(linesHint({ ...found, classes: classes({ inserted: "1" }) })).toMatch(/^Each row is a line/);
  expect(linesHint({ ...found, classes: null })).toMatch(/^Each row is a line/);
  expect(linesHint({ ...found, classes: [] })).toMatch(/nothing else: schema/);
  expect(linesHint({ ...found, classes: [], beside: ["schema"] })).toMatch(/listed above/);
  expect([hasRows(found), hasRows({ classes: null })]).toEqual([true, false]);
});

test("all values are compared only where counts do not tell that some differ", () => {
  const cells = { columns: [] } as never;
  expect(mayBeSame({ classes: classes({ inserted: "2", deleted: "2" }), cells })).toBe(true);
  expect(mayBeSame({ classes: classes({ inserted: "2", deleted: "1" }), cells })).toBe(false);
  expect(mayBeSame({ classes: null, cells })).toBe(false);
});
