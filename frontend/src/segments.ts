// The row-ID segments of a version as they come from Python: a row for each fragment, or for several.

import type { EncodingsVersion, SegmentsContent } from "./messages";

type Arrays<Prefix extends string> = Record<`${Prefix}segment_kind` | `${Prefix}segment_fill`, Uint8Array> &
  Record<`${Prefix}segment_begins`, Int32Array> &
  Record<`${Prefix}row_bytes` | `${Prefix}row_best`, Float64Array>;

/** The arrays of all fragments, and those of the chosen one. */
export type SegmentArrays = Arrays<""> & Arrays<"one_">;

/** A raster of segments with its arrays. */
export interface Segments extends SegmentsContent {
  kind: Uint8Array;
  fill: Uint8Array;
  begins: Int32Array;
  bytes: Float64Array;
  best: Float64Array;
}

export const ENCODING_WORDS = (name: string) => name.replaceAll("_", " ");

/** Return a raster of segments from Python, with what the picture asks it. */
export function unpackSegments(content: EncodingsVersion, arrays: SegmentArrays, prefix: "" | "one_" = ""): Segments {
  const about = prefix ? content.one : content;
  return {
    ...about,
    kind: arrays[`${prefix}segment_kind`],
    fill: arrays[`${prefix}segment_fill`],
    begins: arrays[`${prefix}segment_begins`],
    bytes: arrays[`${prefix}row_bytes`],
    best: arrays[`${prefix}row_best`],
  };
}

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
