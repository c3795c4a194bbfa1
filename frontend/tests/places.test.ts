import { expect, test } from "vitest";
import { livesOf } from "../src/index_lives";
import { lineageCommits } from "../src/lineage_axis";

function commits(...versions: number[]) {
  const [times, none] = [new Float64Array(versions.length), new Uint8Array(versions.length)];
  const arrays = { versions: new Float64Array(versions), times, kind: none, is_recorded: none };
  return lineageCommits({ kinds: ["append"], operations: [], tags: [], origins: [], ...arrays });
}

test("the nearest commit to a place is found, and at a fork that of the branch", () => {
  const some = commits(1, 2, 2, 5, 9);
  expect([0, 1, 1.5, 2, 3, 6.9, 7.5, 1e9].map((version) => some.nearest(version))).toEqual([0, 0, 2, 2, 2, 3, 4, 4]);
  expect([0, 2, 3, 9, 10].map((version) => some.from(version))).toEqual([0, 1, 3, 4, 5]);
  expect([commits().nearest(3), commits().from(3)]).toEqual([-1, 0]);
});

test("what an index has of a fragment is known in each stretch of versions, and nothing between them", () => {
  const lives = livesOf({
    index: "by_city",
    coverages: ["absent", "covered", "not_covered"],
    colors: {},
    fragments: new BigUint64Array([7n, 8n, 9n]),
    slot: new Int32Array([2, 0, 2, 0]),
    first: new Int32Array([6, 0, 1, 2]),
    last: new Int32Array([7, 1, 3, 2]),
    coverage: new Uint8Array([2, 2, 1, 1]),
  });
  const told = (slot: number) => Array.from({ length: 9 }, (_, position) => lives.at(slot, position));
  expect([0, 1, 2].map(told)).toEqual([
    [2, 2, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 0],
    [0, 1, 1, 1, 0, 0, 2, 2, 0],
  ]);
});
