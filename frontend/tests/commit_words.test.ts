import { describe, expect, it } from "vitest";
import { type AskWords, commitWords } from "../src/commit_words";
import { drawn } from "./drawn";

const VERSIONS = BigUint64Array.from({ length: 12_000 }, (_, p) => BigInt(p + 1));

/** What draws the words of the commit at a position. */
function words(versions: BigUint64Array, ask: AskWords) {
  const wordsOf = commitWords(versions, ask);
  return (position: number) => drawn(wordsOf(position));
}

/** Words of versions that are asked for, and what was asked; answers come when they are let go. */
function python() {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const ask = (first: string, last: string) => {
    asked.push(`${first}-${last}`);
    return new Promise<Record<string, string>>((resolve) => {
      waiting.push(() => resolve({ [first]: `Made \`${first}\`.`, [last]: `Made \`${last}\`.` }));
    });
  };
  const answer = async () => {
    waiting.shift()?.();
    for (let i = 0; i < 5; i += 1) await Promise.resolve();
  };
  return { asked, ask, answer };
}

describe("words of commits", () => {
  it("come with the part that they are in, and are there at once when it is known", async () => {
    const { ask, answer } = python();
    const wordsOf = words(VERSIONS, ask);
    const element = wordsOf(11_999);
    expect(element.textContent).toBe("…");
    await answer();
    expect(element.innerHTML).toBe("<span>Made <code>12000</code>.</span>");
    expect(wordsOf(11_500).textContent).toBe("Made 11501.");
  });
  it("are asked for one part at a time: what was looked at last first, then the newest", async () => {
    const { asked, ask, answer } = python();
    const wordsOf = words(VERSIONS, ask);
    for (const position of [11_999, 0, 6_000]) wordsOf(position);
    expect(asked).toEqual(["11501-12000"]);
    for (let i = 0; i < 3; i += 1) await answer();
    expect(asked).toEqual(["11501-12000", "6001-6500", "1-500", "11001-11500"]);
  });
  it("of versions that nobody looks at are asked for only of the newest", async () => {
    const { asked, ask, answer } = python();
    words(VERSIONS, ask)(11_999);
    for (let i = 0; i < 30; i += 1) await answer();
    expect(asked.length).toBe(10);
    expect(asked.at(-1)).toBe("7001-7500");
  });
  it("are asked for again after a failure", async () => {
    let fails = true;
    const wordsOf = words(VERSIONS.subarray(0, 1), async (first) => {
      if (fails) throw new Error("no kernel");
      return { [first]: "Made." };
    });
    wordsOf(0);
    for (let i = 0; i < 5; i += 1) await Promise.resolve();
    fails = false;
    const element = wordsOf(0);
    for (let i = 0; i < 5; i += 1) await Promise.resolve();
    expect(element.textContent).toBe("Made.");
  });
});
