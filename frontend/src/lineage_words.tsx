// What the lineage says of lanes, ribbons, commits and rows: words come with the places from Python.

import { KIND_COLORS } from "./kinds";
import { legendEntry } from "./legend";
import type { Commits } from "./lineage_axis";
import { type InLineage, isRest, type Layout } from "./lineage_drawing";
import type { Span } from "./lineage_span";
import { count, isoTime, plural } from "./text";
import { linesOf, versionWords } from "./version_words";

/** Return what the tooltip says of what was found in the picture, as elements. */
export function describeInLineage(found: InLineage, layout: Layout, commits: Commits) {
  return linesOf(wordsOf(found, layout, commits));
}

function wordsOf(found: InLineage, layout: Layout, commits: Commits): string[] {
  switch (found.what) {
    case "lane": {
      const { title, facts, node: name } = layout.lanes[found.index];
      const hint = name === "rest" ? ["zoom in to see them apart"] : [];
      return [title, layout.step_words[found.step], ...facts, ...hint];
    }
    case "ribbon":
      return layout.ribbon_words[found.index];
    case "rewrite":
      return layout.rewrite_words[found.index];
    case "event":
      return found.mark.event.words;
    case "commit":
      return versionWords({
        version: commits.versions[found.index],
        origin: commits.originAt(found.index),
        operation: commits.operations[found.index],
        time: isoTime(commits.times[found.index]),
        tags: commits.tags.filter(({ place }) => place === found.index).map(({ name }) => name),
        isRecorded: Boolean(commits.isRecorded[found.index]),
      });
  }
}

/** How much there is, and how much of it is shown: as `note` of lineage_words.py says it. */
export function noteWords(
  lanes: number,
  fragments: number,
  ribbons: number,
  allRibbons: number,
  begin: number,
  end: number,
) {
  const span = begin === end ? `version ${count(begin)}` : `versions ${count(begin)} to ${count(end)}`;
  const words =
    lanes < fragments
      ? [`${count(lanes)} of ${plural(fragments, "fragment")} in ${span}, the rest in grey`]
      : [plural(fragments, "fragment"), span];
  if (ribbons < allRibbons) words.push(`the widest ${count(ribbons)} of ${count(allRibbons)} ribbons`);
  return words.join(" · ");
}

/** How much there is in some versions, and how much of it is drawn. */
export function drawnWords(layout: Layout, [begin, end]: Span) {
  const { lanes, num_fragments, num_ribbons, lane_x0, lane_x1 } = layout;
  const ribbons = layout.ribbon_x0.length;
  if (layout.has_rest) {
    const words = noteWords(lanes.length - 1, num_fragments, ribbons, num_ribbons, layout.begin, layout.end);
    return `${words} · zoom in to see more`;
  }
  const here = lanes.filter((lane, i) => !isRest(lane) && lane_x0[i] <= end && lane_x1[i] >= begin).length;
  return noteWords(here, here, ribbons, num_ribbons, begin, end);
}

/** What the picture is and how keys work in it, for those who do not see it. */
export function pictureWords({ num_fragments, begin, end }: Layout) {
  return `Lineage of ${plural(num_fragments, "fragment")}, versions ${count(begin)} to ${count(end)}. Arrow keys move, plus and minus zoom, 0 shows everything; with Shift they move the version and select a fragment.`;
}

/** What the colours and marks in the picture mean. */
export function lineageLegend({ keys }: Layout) {
  return keys.map(({ mark, kind, words }) =>
    legendEntry(<i class={`lx-swatch lx-${mark}-key`} style={{ "--lx-mark": KIND_COLORS[kind] ?? "" }} />, words),
  );
}
