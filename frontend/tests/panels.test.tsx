import type { ComponentChildren } from "preact";
import { expect, test, vi } from "vitest";
import { totalCards } from "../src/file_panels";
import type { LatestFacts, Sizes } from "../src/messages";
import type { OverviewHistory } from "../src/overview_panels";
import { factCards, LargestCommits, latestSentence, storySentences } from "../src/overview_panels";
import { Total } from "../src/version_words";
import { drawn } from "./drawn";

const NONE = { count: 0, names: [] };

const FACTS: LatestFacts = {
  version: "3",
  latest_version: "3",
  num_rows: "502",
  num_deleted_rows: "0",
  num_fragments: "2",
  num_data_files: "2",
  data_bytes: "1500",
  manifest_bytes: "300",
  writer: "",
  flags: [],
  indices: NONE,
  tags: NONE,
  branches: NONE,
  time: null,
};

function historyOf(some: Partial<OverviewHistory>) {
  return {
    count: 3,
    versions: BigUint64Array.of(1n, 2n, 3n),
    kind: Uint8Array.of(0, 0, 0),
    kinds: [],
    facts: { ...FACTS, num_lost: "0" },
    branch: null,
    recorded_words: null,
    timeAt: () => null,
    wordsOf: (position: number) => `what ${position} did`,
    positionOf: (version: string | bigint) => Number(version) - 1,
    ...some,
  } as unknown as OverviewHistory;
}

function wordsOf(content: ComponentChildren) {
  return [...drawn(content).children].map((element) => element.textContent);
}

test("the latest version is told in a sentence, with what is not known", () => {
  expect(latestSentence(FACTS, null)).toBe("The table has 502 rows in 2 fragments, 1.5 kB of data. ");
  expect(latestSentence({ ...FACTS, num_rows: null }, "dev")).toContain(
    "The branch has an unknown number of rows in 2 fragments",
  );
  expect(latestSentence({ ...FACTS, latest_version: "4" }, null)).toContain(
    " in version 3, the latest that can be read. ",
  );
});

test("a branch is named beside its table, with the number of its versions", () => {
  const words = (branch: string | null, count?: number) =>
    drawn(<Total of={{ name: "t.lance", branch, count }} />).textContent;
  expect(words("dev", 2)).toBe("t.lance, branch dev: 2 versions");
  expect(words(null)).toBe("t.lance");
});

test("the story tells which versions are kept, and leads to the one that made the table big", () => {
  const choose = vi.fn();
  const headline = { before: "", link: "Version 2", version: "2", after: " made it \u202ebig." };
  const sizes = { headline } as Sizes;
  const told = drawn(storySentences(historyOf({}), sizes, choose));
  expect(told.textContent).toContain(
    " 3 versions are kept, 1 to 3; the first was committed at an unknown time. Version 2 made it \\u202ebig.",
  );
  told.querySelector("button")?.click();
  expect(choose).toHaveBeenCalledWith(1);
  expect(drawn(storySentences(historyOf({ count: 1 }), null, choose)).textContent).toContain(
    "One version is kept, 1; ",
  );
});

test("flags that are not known are named in the card of the manifest", () => {
  const cards = wordsOf(factCards({ ...FACTS, flags: ["stable_row_ids", "unknown_1099511627776"] }, null));
  expect(cards.at(-1)).toContain("uses unknown 1099511627776");
  expect(cards.at(-2)).toContain("a row keeps its ID when it moves");
  expect(wordsOf(factCards({ ...FACTS, num_rows: null }, null))[0]).toContain("unknown");
});

test("of many versions that made the table big the last line sums up the others", () => {
  const version = { version: "3", position: 2, amount: "70", share: 0.35, note: "or another" };
  const rows = { versions: [version], rest: { count: 13, amount: "130", share: 0.65 } };
  const sizes = { bytes: { versions: [], rest: rows.rest }, rows, headline: null };
  const list = drawn(<LargestCommits history={historyOf({})} sizes={sizes} chosen="3" choose={() => {}} />);
  expect([...list.querySelectorAll("li")].map((line) => line.textContent)).toEqual([
    "version 370 rows 35 %what 2 did (or another)",
    "and 13 more versions: 130 rows, 65 %",
  ]);
  expect(list.querySelector("li button")?.getAttribute("aria-pressed")).toBe("true");
});

test("sizes of files that are not recorded are unknown, and none is left out of the number of files", () => {
  const total = { kind: "data files", num_files: "3", size_bytes: "1500", num_unknown: 0 };
  const told = (some: object) => wordsOf(totalCards([{ ...total, ...some }]))[0];
  expect(told({})).toBe("data files1.5 kB3 files");
  expect(told({ num_unknown: 1 })).toBe("data files1.5 kB3 files1 of unknown size");
  expect(told({ num_unknown: 3 })).toBe("data filesunknown size3 files");
  expect(told({ num_files: "0", size_bytes: "0" })).toBe("data files0 bytes0 files");
});
