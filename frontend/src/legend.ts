// What colours mean.

import "./kinds.css";
import "./drawing.css";
import { node } from "./elements";
import type { History } from "./history";
import { KIND_COLORS } from "./kinds";
import { visible } from "./text";

export function kindColor(history: { kinds: string[] }, code: number) {
  return KIND_COLORS[history.kinds[code]] ?? KIND_COLORS.other;
}

export function legendEntry(symbol: Node, text: string) {
  return node("span", { class: "lx-legend-entry" }, symbol, text);
}

export function swatch(color: string) {
  return node("i", { class: "lx-swatch", style: { background: color } });
}

/** The operation of a commit, in the colour of its kind. */
export function operationChip(history: History, position: number) {
  const kind = history.kind[position];
  return node(
    "span",
    { class: "lx-chip", title: `kind: ${history.kinds[kind] ?? "other"}` },
    swatch(kindColor(history, kind)),
    visible(history.operationAt(position)),
  );
}

export function recordedChip(title: string) {
  return node("span", { class: "lx-chip lx-recorded", title }, "known from the ledger");
}

/** The kinds of commits that there are, with their colours, as entries of a legend. */
export function kindLegend(history: History) {
  const there = [...new Set(history.kind)].sort((a, b) => a - b);
  return there.map((kind) => legendEntry(swatch(kindColor(history, kind)), history.kinds[kind] ?? "other"));
}
