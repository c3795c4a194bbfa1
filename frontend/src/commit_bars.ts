// Commits as bars, several to a bar, parted by their kinds: as commit_bars.py in Python does it.

/** A part of a bar: the commits of one kind, and how many lie below and in all of the bar. */
export interface BarPart {
  bin: number;
  kind: number;
  start: number;
  commits: number;
  total: number;
  isPale: boolean;
}

/**
 * The parts of bars, from the first bar to the last, each from below, of commits from `first` up to
 * `last`; a bar is pale if none of its commits is dark. Bars follow one another as commits do.
 */
export function commitBars(
  first: number,
  last: number,
  binOf: (position: number) => number,
  kindOf: (position: number) => number,
  isDark: (position: number) => boolean,
): BarPart[] {
  const parts: BarPart[] = [];
  for (let begin = first, end = first; begin < last; begin = end) {
    const bin = binOf(begin);
    const counts = new Map<number, number>();
    let isPale = true;
    for (; end < last && binOf(end) === bin; end += 1) {
      counts.set(kindOf(end), (counts.get(kindOf(end)) ?? 0) + 1);
      isPale &&= !isDark(end);
    }
    let start = 0;
    for (const [kind, commits] of [...counts].sort(([a], [b]) => a - b)) {
      parts.push({ bin, kind, start, commits, total: end - begin, isPale });
      start += commits;
    }
  }
  return parts;
}
