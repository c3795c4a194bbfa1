// Arrays from Python: beside a message, or kept with it.

import type { ArrayPlace, Packed } from "./messages";

/** Put the typed arrays that came beside a content into their places within it; return it. */
export function unpackArrays(content: object, places: ArrayPlace[] = [], buffers: DataView[] = []) {
  for (const [i, { path, type }] of places.entries()) {
    const { buffer, byteOffset, byteLength } = buffers[i];
    let holder = content as Record<string, unknown>;
    for (const part of path.slice(0, -1)) holder = holder[part] as Record<string, unknown>;
    const bytes = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
    holder[path[path.length - 1]] = new globalThis[type](bytes);
  }
  return content;
}

export function bytesOf(base64: string) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Return a message that is kept. */
export function unpackKept({ content, arrays, buffers = [] }: Packed) {
  const views = buffers.map((buffer) => new DataView(bytesOf(buffer).buffer));
  return unpackArrays(structuredClone(content as object), arrays, views);
}
