import { expect, test } from "vitest";
import { distanceOf, nextLane, nextVersion } from "../src/lineage_keys";
import { enlarged, laneScale, type Span, sightOf, sightUnder, versionsIn, wantedLanes } from "../src/lineage_span";

const WHOLE = sightOf(1, 45);

test("what is in sight is what a picture of all shows when it is enlarged and moved, and the other way round", () => {
  expect(sightUnder({ k: 1, x: 0 }, WHOLE, 824)).toEqual(WHOLE);
  for (const sight of [sightOf(10, 20), sightOf(43, 45), WHOLE]) {
    const { x0, x1 } = sightUnder(enlarged(sight, WHOLE, 824, [1, 16]), WHOLE, 824);
    expect([x0, x1]).toEqual([expect.closeTo(sight.x0), expect.closeTo(sight.x1)]);
  }
  expect(enlarged(sightOf(7, 7), WHOLE, 824, [1, 15]).k).toBe(15);
  expect(enlarged(sightOf(-100, 100), WHOLE, 824, [1, 15]).k).toBe(1);
});

test("versions that are whole are in sight", () => {
  expect(versionsIn(WHOLE, WHOLE)).toEqual([1, 45]);
  expect(versionsIn({ x0: 9.7, x1: 20.2 }, WHOLE)).toEqual([10, 20]);
});

test("a picture has as many versions in its width as are in sight, and lanes scroll no further than they are tall", () => {
  const place = { width: 824, top: 80, room: 300 };
  const scale = laneScale({ x0: 10, x1: 20 }, { height: 1000, offset: 1e9 }, place);
  expect([scale.x(10), scale.x(20), scale.version(scale.x(13))]).toEqual([12, 812, 13]);
  expect(scale.ky).toBe(0.45);
  expect(scale.y(1000)).toBeCloseTo(80 + 300);
  expect(laneScale(WHOLE, { height: 100, offset: 50 }, place)).toMatchObject({ ky: 1, offset: 0 });
});

test("lanes are asked for that are missing, or could be finer, with as many again around them", () => {
  const all: Span = [1, 1000];
  const wanted = (inSight: Span, here: Span | null, has_rest = true) =>
    wantedLanes(inSight, all, here, { has_rest, isWhole: inSight[0] === 1 && inSight[1] === 1000 });
  expect(wanted(all, null)).toBeUndefined();
  expect(wanted([100, 199], null)).toEqual([50, 249]);
  expect(wanted([100, 199], null, false)).toBeUndefined();
  expect(wanted([110, 209], [50, 249])).toBeUndefined();
  expect(wanted([200, 299], [50, 249], false)).toEqual([150, 349]);
  expect(wanted([1, 99], [50, 249])).toEqual([1, 149]);
  expect(wanted(all, [50, 249])).toBeNull();
});

test("keys move by a part of what is in sight, or to an end", () => {
  const distance = (key: string) => distanceOf(key, { x0: 10, x1: 18 }, WHOLE);
  expect([distance("ArrowLeft"), distance("ArrowRight"), distance("PageDown")]).toEqual([-1, 1, 6.4]);
  expect([distance("Home"), distance("End")]).toEqual([WHOLE.x0 - WHOLE.x1, WHOLE.x1 - WHOLE.x0]);
  expect([distance("ArrowUp"), distance("Escape"), distance("+")]).toEqual([undefined, undefined, undefined]);
});

test("the version steps among those of the branch itself", () => {
  const versions = new Float64Array([1, 2, 2, 5, 9]);
  const commits = { versions, count: 5, numInherited: 2, nearest: (version: number) => versions.lastIndexOf(version) };
  const next = (version: string | null, step: number) => nextVersion(commits, version, step);
  expect([next("5", 1), next("5", -1), next("2", -1), next("9", 1), next(null, -1)]).toEqual([9, 2, 2, 9, 5]);
  expect(nextVersion({ ...commits, numInherited: 5 }, "9", 1)).toBeNull();
});

test("lanes of a version are stepped through from the top, and those drawn together are none of them", () => {
  const node = (name: string) => ({ node: name, kind: "append", names: [], title: "", facts: [] });
  const layout = {
    lanes: ["low", "rest", "top", "later", "middle"].map(node),
    lane_x0: new Float64Array([1, 1, 1, 8, 1]),
    lane_x1: new Float64Array([9, 9, 9, 9, 9]),
    lane_y: new Float64Array([30, 40, 10, 15, 20]),
  };
  const next = (lane: number | null, step: number) =>
    nextLane({ ...layout, selected: lane === null ? null : { ...SELECTED, lane } }, 5, step);
  expect([next(null, 1), next(null, -1)]).toEqual(["top", "low"]);
  expect([next(2, 1), next(4, 1), next(0, 1), next(2, -1)]).toEqual(["middle", "low", "low", "top"]);
  expect(nextLane({ ...layout, selected: null }, 20, 1)).toBeNull();
});

const SELECTED = {
  node: "x",
  fragment_id: "1",
  lanes: [],
  only: false,
  num_ancestors: 0,
  num_descendants: 0,
};
