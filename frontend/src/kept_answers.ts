// The answers in a page that works without Python: compressed in shelves, by the names that shelves.py gives them.

/** An answer, with the arrays beside it. */
export interface Kept {
  content: Record<string, unknown>;
  buffers: DataView[];
}

type Packed = [content: Record<string, unknown>, buffers: string[]];

export type Index = Record<string, [shelf: number, place: number]>;

/** The name of an answer, made of what is asked. */
export function keyOf(...parts: (string | null)[]) {
  return JSON.stringify(parts);
}

function bytesOf(base64: string) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

async function unpacked(shelf: string): Promise<Packed[]> {
  const stream = new Blob([bytesOf(shelf)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** Reads answers; `get(...)` is null where there was no room for one. */
export function keptAnswers(index: Index, shelves: string[]) {
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
    async get(...parts: (string | null)[]): Promise<Kept | null> {
      const key = keyOf(...parts);
      if (!Object.hasOwn(index, key)) return null;
      const [number, place] = index[key];
      const [content, buffers] = (await open(number))[place];
      return { content, buffers: buffers.map((buffer) => new DataView(bytesOf(buffer).buffer)) };
    },
  };
}
