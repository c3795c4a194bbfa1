import { expect, test } from "vitest";
import { lifeScale } from "../src/row_timeline_scale";

const PLACES = { first: 1, last: 3_001, left: 100, right: 700 };

test("versions stand as far apart as their numbers are, if marks can be told apart", () => {
  const { x, isLinear } = lifeScale([1, 1_001, 3_001], PLACES);
  expect(isLinear).toBe(true);
  expect([1, 501, 1_001, 3_001].map(x)).toEqual([100, 200, 300, 700]);
});

test("events in neighbouring versions of thousands have room between them", () => {
  const { x, isLinear } = lifeScale([3, 4, 6, 7], PLACES);
  expect(isLinear).toBe(false);
  const places = [1, 3, 4, 6, 7, 3_001].map(x);
  expect(places[0]).toBeCloseTo(100);
  expect(places.at(-1)).toBeCloseTo(700);
  for (const i of [2, 3, 4]) expect(places[i] - places[i - 1]).toBeGreaterThan(70);
  expect(places.at(-1)).toBeGreaterThan(x(3_000));
});

test("a place leads back to its version, also on a stretched scale", () => {
  for (const events of [[1, 1_001], [3, 4, 6, 7], Array.from({ length: 2_000 }, (_, i) => i + 5)]) {
    const { x, version } = lifeScale(events, PLACES);
    for (const each of [1, 3.5, 6, 20, 2_999, 3_001]) expect(version(x(each))).toBeCloseTo(each, 6);
  }
});

test("hundreds of events fit into the width, in their order", () => {
  const events = Array.from({ length: 200 }, (_, i) => 1_000 + i);
  const places = events.map(lifeScale(events, PLACES).x);
  expect(places.every((place, i) => i === 0 || place > places[i - 1])).toBe(true);
  expect(places.at(-1)).toBeLessThan(700);
});
