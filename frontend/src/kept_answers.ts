// The answers in a page that works without Python: compressed in shelves, by the names that shelves.py gives them.

import { bytesOf, unpackKept } from "./arrays";
import type { Packed, RecordedPage } from "./messages";

/** The name of an answer, made of what is asked. */
export function keyOf(...parts: (string | null)[]) {
  return JSON.stringify(parts);
}

async function unpacked(shelf: string): Promise<Packed[]> {
  const stream = new Blob([bytesOf(shelf)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** Reads answers; `get(...)` is null where there was no room for one. */
export function keptAnswers(index: RecordedPage["index"], shelves: string[]) {
  const opened = new Map<number, Promise<Packed[]>>();
  const MOST_OPEN = 40;

  function open(number: number) {
    const shelf = opened.get(number) ?? unpacked(shelves[number]);
    opened.delete(number); // the newest is the last
    opened.set(number, shelf);
    if (opened.size > MOST_OPEN) opened.delete(opened.keys().next().value as number);
    return shelf;
  }

  return {
    async get<Content = object>(...parts: (string | null)[]): Promise<Content | null> {
      const key = keyOf(...parts);
      if (!Object.hasOwn(index, key)) return null;
      const [number, place] = index[key];
      return unpackKept((await open(number))[place]) as Content;
    },
  };
}
