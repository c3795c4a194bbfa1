import { expect, test } from "vitest";
import { turnOf } from "../src/lineage_gestures";
import { nextLane, nextVersion, sightAfter } from "../src/lineage_keys";
import {
  bounded,
  isWhole,
  laneScale,
  type Span,
  sightOf,
  versionsIn,
  wantedLanes,
  width,
  zoomed,
} from "../src/lineage_span";

const WHOLE = sightOf(1, 45);

test("what is in sight stays within the whole", () => {
  expect(bounded({ x0: 10, x1: 20 }, WHOLE)).toEqual({ x0: 10, x1: 20 });
  expect(bounded({ x0: -5, x1: 5 }, WHOLE)).toEqual({ x0: 0.6, x1: 10.6 });
  expect(bounded({ x0: 40, x1: 50 }, WHOLE).x1).toBeCloseTo(45.4);
  expect(bounded({ x0: -100, x1: 100 }, WHOLE)).toEqual(WHOLE);
});

test("three versions are in sight at least, or all of fewer", () => {
  expect(bounded({ x0: 20, x1: 20.1 }, WHOLE)).toEqual({ x0: 18.55, x1: 21.55 });
  const one = sightOf(7, 7);
  expect(bounded(zoomed(one, 8), one)).toEqual(one);
});

test("what is pointed at stays where it is while the rest grows", () => {
  const sight = { x0: 10, x1: 20 };
  expect(zoomed(sight, 2)).toEqual({ x0: 12.5, x1: 17.5 });
  expect(zoomed(sight, 2, 0)).toEqual({ x0: 10, x1: 15 });
  expect(zoomed(sight, 0.5, 1)).toEqual({ x0: 0, x1: 20 });
});

test("zooming out as far as in shows everything again", () => {
  let sight = WHOLE;
  for (const factor of [1.5, 1.5, 1.5, 1 / 1.5, 1 / 1.5]) sight = bounded(zoomed(sight, factor, 0.3), WHOLE);
  expect(isWhole(sight, WHOLE)).toBe(false);
  expect(isWhole(bounded(zoomed(sight, 1 / 1.5), WHOLE), WHOLE)).toBe(true);
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

test("a turn of the wheel zooms or moves, and leaves the page to scroll where all is in sight", () => {
  const turn = { deltaX: 0, deltaY: 100, ctrlKey: false, shiftKey: false };
  expect(turnOf(turn, true)).toBeNull();
  expect(turnOf({ ...turn, ctrlKey: true }, true)).toEqual({ factor: Math.exp(-0.22) });
  expect(turnOf({ ...turn, deltaY: -100 }, true)).toEqual({ factor: Math.exp(0.22) });
  expect(turnOf({ ...turn, shiftKey: true }, false)).toEqual({ dx: 100 });
  expect(turnOf({ ...turn, deltaX: -120 }, false)).toEqual({ dx: -120 });
});

test("keys move by a part of what is in sight, zoom about its middle and show everything", () => {
  const sight = { x0: 10, x1: 18 };
  const after = (key: string) => sightAfter(key, sight, WHOLE);
  expect([after("ArrowLeft"), after("ArrowRight")]).toEqual([
    { x0: 9, x1: 17 },
    { x0: 11, x1: 19 },
  ]);
  expect(after("PageDown")?.x0).toBeCloseTo(16.4);
  expect([after("Home")?.x0, after("End")?.x1]).toEqual([expect.closeTo(0.6), 45.4]);
  const closer = after("+") ?? WHOLE;
  expect([width(closer), closer.x0 + closer.x1]).toEqual([expect.closeTo(8 / 1.5), expect.closeTo(28)]);
  expect(after("0")).toEqual(WHOLE);
  expect([after("ArrowUp"), after("Escape"), after("a")]).toEqual([undefined, undefined, undefined]);
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
  num_ancestors: "0",
  num_descendants: "0",
};
