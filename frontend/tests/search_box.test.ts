import { expect, test } from "vitest";
import { matching, triable } from "../src/search_examples";

const EXAMPLES = [
  { text: "id = 42", hint: "rows with this value" },
  { text: "who deleted ", hint: "when and by which commit" },
  { text: "why is it big", hint: "what is on disk" },
];

test("examples have all words that are typed, in any order", () => {
  expect(matching(EXAMPLES, "")).toHaveLength(3);
  expect(matching(EXAMPLES, "DELETED who").map(({ text }) => text)).toEqual(["who deleted "]);
  expect(matching(EXAMPLES, "disk").map(({ text }) => text)).toEqual(["why is it big"]);
  expect(matching(EXAMPLES, "v12")).toEqual([]);
});

test("three examples are tried, none that is to be completed", () => {
  expect(triable(EXAMPLES).map(({ text }) => text)).toEqual(["id = 42", "why is it big"]);
  expect(triable([...EXAMPLES, ...EXAMPLES])).toHaveLength(3);
});
