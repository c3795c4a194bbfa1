// What an index had of each fragment over versions: the arrays from Python, added up for a picture.

import { bisector } from "d3-array";
import type { History } from "./history";
import type { Coverage, IndexLives, IndicesData } from "./messages";

/** What an index had of each fragment; a slot is a fragment's place among all. */
export interface Lives extends IndexLives {
  count: number;
  at: (slot: number, position: number) => number;
  slotOf: (id: string) => number | undefined;
}

/** Nothing: before it came from Python. */
export const NO_LIVES: Lives = {
  index: "",
  coverages: [],
  colors: {},
  fragments: new BigUint64Array(),
  slot: new Int32Array(),
  first: new Int32Array(),
  last: new Int32Array(),
  coverage: new Uint8Array(),
  count: 0,
  at: () => 0,
  slotOf: () => undefined,
};

/** How fragments become rows of the picture: how many in each, how many rows, how tall one is. */
export interface CoverageRows {
  each: number;
  number: number;
  tall: number;
}

export const COVERAGE = { most: 264, row: 18, narrowest: 6, apart: 9, marks: 200, large: 0.02 }; // px, but for marks

export const COVERAGE_WORDS: Record<Coverage, string> = {
  absent: "not in this version",
  covered: "covered",
  masked: "covered, rows deleted or moved since",
  not_covered: "not covered",
  removed: "removed, but still listed",
  unknown: "coverage unknown",
  no_index: "index does not exist",
};

/** Return the lives of fragments from Python, with what the picture asks them. */
export function livesOf(lives: IndexLives) {
  const { slot, first, last, coverage } = lives;
  const order = Uint32Array.from(slot.keys()).sort((a, b) => slot[a] - slot[b] || first[a] - first[b]);
  const begins = new Uint32Array(lives.fragments.length + 1);
  for (const s of slot) begins[s + 1] += 1;
  for (let s = 0; s < lives.fragments.length; s += 1) begins[s + 1] += begins[s];
  const slots = new Map(Array.from(lives.fragments, (id, s) => [String(id), s] as const));
  const byFirst = bisector((i: number) => first[i]);
  /** What the index has of a fragment in a version: a number in `coverages`, 0 for nothing. */
  function at(s: number, position: number) {
    const found = byFirst.right(order, position, begins[s], begins[s + 1]) - 1;
    return found >= begins[s] && last[order[found]] >= position ? coverage[order[found]] : 0;
  }
  return { ...lives, count: lives.fragments.length, at, slotOf: (id: string) => slots.get(id) };
}

/** Return how many rows each index found of all, from version to version: parts of 1, NaN if unknown. */
export function coverageLines(history: History & IndicesData) {
  const lines = history.index_names.map(() => new Float64Array(history.count).fill(NaN));
  const { line_index: index, line_first: first, line_last: last, line_answered: found, line_to_scan: rest } = history;
  for (let i = 0; i < index.length; i += 1) {
    const share = found[i] + rest[i] ? found[i] / (found[i] + rest[i]) : found[i] === 0 ? 1 : NaN;
    lines[index[i]].fill(share, first[i], last[i] + 1);
  }
  return lines;
}

/** Return fragments as rows of the picture: how many in each, and how tall. */
export function coverageRows(lives: Lives) {
  const each = Math.max(1, Math.ceil(lives.count / COVERAGE.most));
  const number = Math.ceil(lives.count / each);
  const tall = number ? Math.max(1, Math.min(COVERAGE.row, Math.floor(COVERAGE.most / number))) : 0;
  return { each, number, tall };
}

/**
 * Add up what the index had, in columns of `step` versions and rows of `each` fragments: for each
 * kind of coverage an array, column by column within each row.
 */
export function addUp(lives: Lives, rows: CoverageRows, step: number, columns: number) {
  const sums = lives.coverages.map(() => new Float32Array(rows.number * columns));
  const steps = lives.coverages.map(() => new Float32Array(rows.number * (columns + 1)));
  const { slot, first, last, coverage } = lives;
  for (let i = 0; i < slot.length; i += 1) {
    const row = Math.floor(slot[i] / rows.each);
    const [begin, end] = [Math.floor(first[i] / step), Math.floor(last[i] / step)];
    const sum = sums[coverage[i]];
    if (begin === end) sum[row * columns + begin] += last[i] - first[i] + 1;
    else {
      sum[row * columns + begin] += (begin + 1) * step - first[i];
      sum[row * columns + end] += last[i] - end * step + 1;
      steps[coverage[i]][row * (columns + 1) + begin + 1] += step;
      steps[coverage[i]][row * (columns + 1) + end] -= step;
    }
  }
  sums.forEach((sum, kind) => {
    for (let row = 0; row < rows.number; row += 1) {
      let running = 0;
      for (let c = 0; c < columns; c += 1) {
        running += steps[kind][row * (columns + 1) + c];
        sum[row * columns + c] += running;
      }
    }
  });
  return sums;
}

/** Return the sums as a small picture, a pixel for each: the colours of all kinds, mixed. */
export function mixed(
  lives: Lives,
  sums: Float32Array[],
  rows: CoverageRows,
  step: number,
  columns: number,
  total: number,
) {
  const image = new ImageData(columns, rows.number);
  const colors = lives.coverages.map((name) =>
    [1, 3, 5].map((at) => parseInt((lives.colors[name] ?? "#000000").slice(at, at + 2), 16)),
  );
  for (let row = 0; row < rows.number; row += 1) {
    const inRow = Math.min(rows.each, lives.count - row * rows.each);
    for (let c = 0; c < columns; c += 1) {
      const whole = inRow * Math.min(step, total - c * step);
      let [red, green, blue, weight] = [0, 0, 0, 0];
      for (let kind = 1; kind < sums.length; kind += 1) {
        const faint = lives.coverages[kind] === "no_index" ? 0.3 : 1;
        const share = (faint * sums[kind][row * columns + c]) / whole;
        if (!share) continue;
        red += share * colors[kind][0];
        green += share * colors[kind][1];
        blue += share * colors[kind][2];
        weight += share;
      }
      if (weight)
        image.data.set(
          [red / weight, green / weight, blue / weight, 255 * Math.min(1, weight)],
          4 * (row * columns + c),
        );
    }
  }
  return image;
}
