// Arrays from Python.

import type { Packed } from "./messages";

/** Return the typed arrays that came beside a content, by name. */
export function unpackArrays<Arrays>(content: Packed): Arrays {
  const arrays: Record<string, ArrayBufferView> = {};
  for (const [i, { name, type }] of content.arrays.entries()) {
    const { buffer, byteOffset, byteLength } = content.buffers[i];
    arrays[name] = new globalThis[type](buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer);
  }
  return arrays as Arrays;
}
