// What stands above the numbers of a comparison: its versions, the commits between, and what is in doubt.

import { apartWords, commitKinds, type Range, rangeHeading } from "./changes_words";
import { type Child, fill, node } from "./elements";
import type { History } from "./history";
import { kindColor, legendEntry, swatch } from "./legend";
import type { Comparison } from "./messages";
import { absoluteTime, count, cut, plural, visible } from "./text";

/** The heading: `elements`, and `show(history, range)`. */
export function rangeHead() {
  const heading = node("div", { class: "lx-version-heading" });
  const commits = node("div", { class: "lx-legend" });
  return {
    elements: [heading, commits],
    show(history: History, range: Range) {
      const times = [range.begin, range.end]
        .map((version) => history.positionOf(version))
        .map((p) => (p === undefined ? null : history.timeAt(p)));
      fill(
        heading,
        node("h3", {}, rangeHeading(range)),
        node(
          "span",
          { class: "lx-quiet" },
          apartWords(range, times),
          times[1] ? `until ${absoluteTime(times[1])}` : "",
        ),
      );
      fill(commits, ...commitsBetween(history, range));
    },
  };
}

function commitsBetween(history: History, range: Range) {
  const kinds = commitKinds(history, range);
  const total = kinds.reduce((sum, [, number]) => sum + number, 0);
  return [
    node("span", { class: "lx-quiet" }, total ? `${plural(total, "commit")}:` : "no commits between"),
    ...kinds.map(([kind, number]) =>
      legendEntry(swatch(kindColor(history, kind)), `${count(number)} ${history.kinds[kind] ?? "other"}`),
    ),
  ];
}

/** Why there is no comparison, what is uncertain in it, and how it is known. `chooseKey` leads to the keys. */
export function comparisonNotes(about: Comparison, chooseKey: HTMLElement): Child[] {
  const { problem, lost, doubts, evidence, needs_key, left_out } = about;
  const doubt = (...children: Child[]) => node("p", { class: "lx-doubt" }, ...children);
  return [
    problem &&
      node(
        "div",
        { class: "lx-refusal", role: "alert" },
        node("strong", {}, `${visible(problem.title)}. `),
        cut(problem.message, 2000),
        " Choose other versions above, or another key.",
      ),
    doubts ? doubt(visible(doubts)) : null,
    lost ? doubt(visible(lost)) : null,
    needs_key && !about.key.length
      ? doubt(
          "This table has no stable row IDs: where nothing records which row replaced which, an update counts as one deleted and one inserted. A key matches them. ",
          chooseKey,
        )
      : null,
    left_out?.length
      ? doubt(`Blobs may be large, and are neither shown nor compared here: ${cut(left_out.join(", "), 300)}.`)
      : null,
    evidence
      ? node(
          "p",
          { class: "lx-quiet" },
          `How it is known: ${doubts ? "apart from what is uncertain, " : ""}${evidence}.`,
        )
      : null,
  ];
}
