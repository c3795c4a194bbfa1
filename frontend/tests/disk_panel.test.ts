import { expect, test } from "vitest";
import { sectionOf } from "../src/answer_sections";
import { alignedTo, planLines } from "../src/disk_panel";
import { drawn } from "./drawn";

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

const section = (name: string, title: string, words: string, is_warning = false) => ({
  name,
  title,
  is_warning,
  lines: [{ words, place: null }],
  columns: [],
  rows: [],
  num_rows: 0,
});

const TEXTS = [
  "Branch b could no longer be read.",
  "Instead, without breaking anything: with 1 tag first, frees 1 MB.",
  "3 versions can no longer be opened",
];

const plan = {
  title: "A cleanup",
  sentence: "Frees 2 MB.",
  sections: [
    section("breaks", "This would break what others need", TEXTS[0], true),
    section("instead", "", TEXTS[1]),
    section("lost", "What is lost", TEXTS[2]),
  ],
  findings: [],
  place: null,
  asks: [],
  is_call: true,
  code: "dataset.tags.create('keep', 3)",
  lines: "import lance",
};

function shown(given: Partial<typeof plan>, isWhole: boolean) {
  return drawn(planLines({ ...plan, ...given }, isWhole));
}

test.each([true, false])("what a plan breaks and what is lost stand unfolded above its call", (isWhole) => {
  const element = shown({}, isWhole);
  const places = [...TEXTS, plan.code].map((text) => element.textContent?.indexOf(text) ?? -1);
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(Math.min(...places)).toBeGreaterThan(0);
  expect(element.querySelector(".lx-breaks")?.closest("details")).toBeNull();
  expect(element.querySelector("details")).toBeNull();
});

test.each([true, false])("what a plan takes stands below its call", (isWhole) => {
  const element = shown({ sections: [section("stays", "Fragments that stay", "2 fragments: large")] }, isWhole);
  const words = element.textContent ?? "";
  expect(words.indexOf("2 fragments: large")).toBeGreaterThan(words.indexOf(plan.code));
  expect(element.querySelector("details") === null).toBe(isWhole);
});

test("a plan that can only break something has no call to copy", () => {
  const element = shown({ code: "", lines: "" }, false);
  expect(element.querySelector("button")).toBeNull();
  expect(element.querySelector(".lx-disk-call")).toBeNull();
});

test("rows of an answer are a table, and what is left out is counted", () => {
  const columns = [{ name: "id", is_number: true, is_words: false }];
  const element = drawn(sectionOf({ ...section("rows", "Rows", ""), lines: [], columns, rows: [["1"]], num_rows: 3 }));
  expect(element.querySelector("td")?.textContent).toBe("1");
  expect(element.textContent).toContain("and 2 more");
});
