// What stands above the numbers of a comparison: its versions, the commits between, and what is in doubt.

import type { ComponentChildren, VNode } from "preact";
import { apartWords, commitKinds, type Range, rangeHeading } from "./changes_words";
import type { History } from "./history";
import { kindColor, legendEntry, swatch } from "./legend";
import type { Comparison } from "./messages";
import { absoluteTime, count, cut, plural, visible } from "./text";

/** The versions that are compared, and the commits between. */
export function rangeHead(history: History, range: Range) {
  const times = [range.begin, range.end]
    .map((version) => history.positionOf(version))
    .map((p) => (p === undefined ? null : history.timeAt(p)));
  const kinds = commitKinds(history, range);
  const total = kinds.reduce((sum, [, number]) => sum + number, 0);
  return (
    <>
      <div class="lx-version-heading">
        <h3>{rangeHeading(range)}</h3>
        <span class="lx-quiet">
          {apartWords(range, times)}
          {times[1] && `until ${absoluteTime(times[1])}`}
        </span>
      </div>
      <div class="lx-legend">
        <span class="lx-quiet">{total ? `${plural(total, "commit")}:` : "no commits between"}</span>
        {kinds.map(([kind, number]) =>
          legendEntry(swatch(kindColor(history, kind)), `${count(number)} ${history.kinds[kind] ?? "other"}`),
        )}
      </div>
    </>
  );
}

/** Why there is no comparison, what is uncertain in it, and how it is known. `chooseKey` is a button that shows the keys. */
export function comparisonNotes(about: Comparison, chooseKey: VNode) {
  const { problem, lost, doubts, evidence, needs_key, left_out } = about;
  const doubt = (...children: ComponentChildren[]) => <p class="lx-doubt">{children}</p>;
  return (
    <>
      {problem && (
        <div class="lx-refusal" role="alert">
          <strong>{visible(problem.title)}. </strong>
          {cut(problem.message, 2000)} Choose other versions above, or another key.
        </div>
      )}
      {doubts && doubt(visible(doubts))}
      {lost && doubt(visible(lost))}
      {needs_key &&
        !about.key.length &&
        doubt(
          "This table has no stable row IDs: where nothing records which row replaced which, an update counts as one deleted and one inserted. A key matches them. ",
          chooseKey,
        )}
      {left_out?.length
        ? doubt(`Blobs may be large, and are neither shown nor compared here: ${cut(left_out.join(", "), 300)}.`)
        : null}
      {evidence && (
        <p class="lx-quiet">
          How it is known: {doubts ? "apart from what is uncertain, " : ""}
          {evidence}.
        </p>
      )}
    </>
  );
}
