// What a version was, in words and numbers, as time travel tells it while the slider moves.

import { versionBefore } from "./changes_words";
import type { History } from "./history";
import { operationChip, recordedChip } from "./legend";
import type { Link } from "./link";
import { LeadTo } from "./reactive";
import { absoluteTime, bytes, count, cut, known, relativeTime, visible } from "./text";

interface StoryProps {
  link: Link;
  history: History;
  position: number;
}

export function VersionStory({ link, history, position }: StoryProps) {
  const version = String(history.versions[position]);
  const time = history.timeAt(position);
  const message = history.messages[position];
  const hasMessages = history.messages.some(Boolean);
  return (
    <>
      <div class="lx-version-heading">
        <h3>Version {count(version)}</h3>
        {operationChip(history, position)}
        <span>
          {time && `${relativeTime(time)} `}
          <span class="lx-quiet">{absoluteTime(time)}</span>
        </span>
        {history.is_recorded[position] === 1 &&
          recordedChip("The table does not keep this version any more; a ledger does")}
        {history.tagsAt(position).map((name) => (
          <span class="lx-tag" title="tag">
            ⚑ {cut(name, 40)}
          </span>
        ))}
        <LeadTo link={link} view="changes" changes={{ version, compared_version: versionBefore(history, position) }}>
          What changed
        </LeadTo>
      </div>
      <p class={hasMessages ? "lx-words lx-with-message" : "lx-words"}>
        {history.wordsOf(position)}
        {message && <span class="lx-message">“{visible(message)}”</span>}
      </p>
      <div class="lx-facts">
        {fact("rows", history.num_rows, position)}
        {fact("deleted rows", history.num_deleted_rows, position)}
        {fact("fragments", history.num_fragments, position)}
        {fact("data", history.data_bytes, position, bytes)}
        {position > 0 && history.gapBefore[position] && (
          <span class="lx-quiet">
            compared with version {count(history.versions[position - 1])}, the last one kept before
          </span>
        )}
      </div>
    </>
  );
}

function fact(name: string, values: Float64Array, position: number, format: (value: number) => string = count) {
  const change = difference(values, position, format);
  return (
    <span>
      <span class="lx-fact-value">{known(values[position], format)}</span>
      <span class="lx-quiet"> {name}</span>
      {change && <span class="lx-difference">{change}</span>}
    </span>
  );
}

/** Return what a number gained or lost since the version before, "" if nothing or unknown. */
function difference(values: Float64Array, position: number, format: (value: number) => string) {
  const change = position ? values[position] - values[position - 1] : 0;
  if (!change) return ""; // also where one of them is not known
  return change > 0 ? `+${format(change)}` : `−${format(-change)}`;
}
