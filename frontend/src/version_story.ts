// What a version was, in words and numbers, as time travel tells it while the slider moves.

import { versionBefore } from "./changes_words";
import { fill, node } from "./elements";
import type { History } from "./history";
import { operationChip, recordedChip } from "./legend";
import type { Link } from "./link";
import { absoluteTime, bytes, count, cut, relativeTime, visible } from "./text";

/** The story: `elements`, `setHistory(history)` and `show(position)`. */
export function versionStory(link: Link) {
  let history!: History;
  const heading = node("div", { class: "lx-version-heading" });
  const words = node("p", { class: "lx-words" });
  const facts = node("div", { class: "lx-facts" });

  function headingOf(position: number) {
    const version = String(history.versions[position]);
    const time = history.timeAt(position);
    const tags = history
      .tagsAt(position)
      .map((name) => node("span", { class: "lx-tag", title: "tag" }, "⚑ ", cut(name, 40)));
    return [
      node("h3", {}, `Version ${count(version)}`),
      operationChip(history, position),
      node("span", {}, time ? `${relativeTime(time)} ` : "", node("span", { class: "lx-quiet" }, absoluteTime(time))),
      history.is_recorded[position]
        ? recordedChip("The table does not keep this version any more; a ledger does")
        : null,
      ...tags,
      link.leadTo("changes", "What changed", { version, compared_version: versionBefore(history, position) }),
    ];
  }

  return {
    elements: [heading, words, facts],
    setHistory(newest: History) {
      history = newest;
      const hasMessages = history.messages.some((message) => message);
      words.classList.toggle("lx-with-message", hasMessages);
    },
    show(position: number) {
      const message = history.messages[position];
      fill(heading, ...headingOf(position));
      fill(
        words,
        history.wordsOf(position),
        message ? node("span", { class: "lx-message" }, `“${visible(message)}”`) : null,
      );
      fill(facts, ...factsOf(history, position));
    },
  };
}

function factsOf(history: History, position: number) {
  const counted = (name: string, values: Float64Array, format: (value: number) => string = count) =>
    fact(
      name,
      Number.isNaN(values[position]) ? "unknown" : format(values[position]),
      difference(values, position, format),
    );
  return [
    counted("rows", history.num_rows),
    counted("deleted rows", history.num_deleted_rows),
    counted("fragments", history.num_fragments),
    counted("data", history.data_bytes, bytes),
    gapNote(history, position),
  ];
}

function fact(name: string, value: string, change: string) {
  return node(
    "span",
    {},
    node("span", { class: "lx-fact-value" }, value),
    node("span", { class: "lx-quiet" }, ` ${name}`),
    change ? node("span", { class: "lx-difference" }, change) : null,
  );
}

/** Return what a number gained or lost since the version before, "" if nothing or unknown. */
function difference(values: Float64Array, position: number, format: (value: number) => string) {
  const change = position ? values[position] - values[position - 1] : 0;
  if (!change) return ""; // also where one of them is not known
  return change > 0 ? `+${format(change)}` : `−${format(-change)}`;
}

/** Say with what a version is compared if not with the one numbered one lower. */
function gapNote(history: History, position: number) {
  if (position === 0 || !history.gapBefore[position]) return null;
  return node(
    "span",
    { class: "lx-quiet" },
    `compared with version ${count(history.versions[position - 1])}, the last one kept before`,
  );
}
