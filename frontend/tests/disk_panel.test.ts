import { expect, test } from "vitest";
import { alignedTo } from "../src/disk_panel";

const versions = (...numbers: number[]) => BigUint64Array.from(numbers.map(BigInt));

test("totals stand at the versions that had them", () => {
  const aligned = alignedTo({ versions: versions(1, 2, 5) }, versions(1, 2, 5), Float64Array.of(10, 30, 60));
  expect([...aligned]).toEqual([10, 30, 60]);
});

test("versions that only one of both knows have the total before them", () => {
  const aligned = alignedTo({ versions: versions(1, 3, 4, 9) }, versions(2, 3, 7), Float64Array.of(10, 30, 60));
  expect([...aligned]).toEqual([0, 30, 30, 60]);
});

test("without versions on disk nothing is there", () => {
  expect([...alignedTo({ versions: versions(1, 2) }, versions(), new Float64Array(0))]).toEqual([0, 0]);
});
