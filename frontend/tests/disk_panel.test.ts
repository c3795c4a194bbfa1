import { expect, test } from "vitest";
import { alignedTo, planLines } from "../src/disk_panel";

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

const plan = {
  title: "A cleanup",
  sentence: "Frees 2 MB.",
  breaks: ["Branch b could no longer be read."],
  lost: ["3 versions can no longer be opened"],
  instead: "Instead, without breaking anything: with 1 tag first, frees 1 MB.",
  code: "dataset.tags.create('keep', 3)",
  lines: "import lance",
  costs: "",
  stays: [],
};

function shown(given: Partial<typeof plan>, isWhole: boolean) {
  const [, element] = planLines({ ...plan, ...given }, isWhole) as HTMLElement[];
  return element;
}

test.each([true, false])("what a plan breaks and what is lost stand unfolded above its call", (isWhole) => {
  const element = shown({}, isWhole);
  const texts = [plan.breaks[0], plan.instead, plan.lost[0], plan.code];
  const places = texts.map((text) => element.textContent?.indexOf(text) ?? -1);
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(Math.min(...places)).toBeGreaterThan(0);
  expect(element.querySelector(".lx-breaks")?.closest("details")).toBeNull();
  expect(element.querySelector("details")).toBeNull();
});

test("a plan that can only break something has no call to copy", () => {
  const element = shown({ code: "", lines: "" }, false);
  expect(element.querySelector("button")).toBeNull();
  expect(element.querySelector("code")).toBeNull();
});
