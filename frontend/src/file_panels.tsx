// Totals by kind, and what manifests were spent on over versions.

import type { VNode } from "preact";
import { byteAreas } from "./byte_areas";
import { factCard } from "./cards";
import type { History } from "./history";
import type { DiskData, FileTotals } from "./messages";
import { bytes, count, plural } from "./text";

/** One card for each kind of file of a version. */
export function totalCards(totals: FileTotals[]) {
  return totals.map(({ kind, num_files: files, size_bytes: size, num_unknown: unknown }) => {
    const isUnknown = Number(files) > 0 && unknown === Number(files);
    return factCard(
      kind,
      isUnknown ? "unknown size" : bytes(size),
      kind === "manifest" ? "one file" : plural(files, kind === "index segments" ? "segment" : "file"),
      unknown && !isUnknown ? `${count(unknown)} of unknown size` : null,
    );
  });
}

/** The bytes of manifests by part, over versions, as areas on top of each other. */
export function manifestsPicture(
  root: HTMLElement,
  { onMove, describeVersion }: { onMove: (position: number) => void; describeVersion: (position: number) => VNode },
) {
  const picture = byteAreas(root, { label: "Bytes of manifests over versions", height: 150, onMove, describeVersion });
  return {
    ...picture,
    setHistory: (history: History & DiskData) => picture.setHistory({ ...history, tags: [] }, history.parts),
  };
}
