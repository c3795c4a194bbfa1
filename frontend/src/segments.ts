// The row-ID segments of a version as they come from Python: a row for each fragment, or for several.

import type { Segments } from "./messages";

export const ENCODING_WORDS = (name: string) => name.replaceAll("_", " ");

/** The row that a fragment is in; -1 if it is in none. */
export function rowOf({ rows }: Pick<Segments, "rows">, id: string) {
  const wanted = BigInt(id);
  return rows.findIndex(([first, last]) => BigInt(first) <= wanted && wanted <= BigInt(last));
}

/** The row that a key leads to from the one that is chosen (-1 for none); null for other keys. */
export function rowAfter(key: string, now: number, numRows: number) {
  const last = numRows - 1;
  const targets: Record<string, number> = {
    ArrowDown: now + 1,
    ArrowUp: now < 0 ? last : now - 1,
    PageDown: now + 10,
    PageUp: now - 10,
    Home: 0,
    End: last,
  };
  return key in targets ? Math.min(Math.max(targets[key], 0), last) : null;
}
