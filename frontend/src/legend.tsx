// What colours mean.

import "./kinds.css";
import "./drawing.css";
import type { ComponentChildren } from "preact";
import type { History } from "./history";
import { KIND_COLORS } from "./kinds";
import { visible } from "./text";

export function kindColor(history: { kinds: string[] }, code: number) {
  return KIND_COLORS[history.kinds[code]] ?? KIND_COLORS.other;
}

export function legendEntry(symbol: ComponentChildren, text: string) {
  return (
    <span class="lx-legend-entry">
      {symbol}
      {text}
    </span>
  );
}

export function swatch(color: string) {
  return <i class="lx-swatch" style={{ background: color }} />;
}

/** The operation of a commit, in the colour of its kind. */
export function operationChip(history: History, position: number) {
  const kind = history.kind[position];
  return (
    <span class="lx-chip" title={`kind: ${history.kinds[kind] ?? "other"}`}>
      {swatch(kindColor(history, kind))}
      {visible(history.operationAt(position))}
    </span>
  );
}

export function recordedChip(title: string) {
  return (
    <span class="lx-chip lx-recorded" title={title}>
      known from the ledger
    </span>
  );
}

/** The kinds of commits that there are, with their colours, as entries of a legend. */
export function kindLegend(history: History) {
  const there = [...new Set(history.kind)].sort((a, b) => a - b);
  return there.map((kind) => legendEntry(swatch(kindColor(history, kind)), history.kinds[kind] ?? "other"));
}
