// The head of a view of one version: which one it is, of which table, and what is the matter with it.

import "./version_head.css";
import { fill, node, rich } from "./elements";
import type { History } from "./history";
import { absoluteTime, count, plural, relativeTime } from "./text";
import { describeVersion, tableWords } from "./version_words";

/**
 * The head: `element`, `describe(position)` for tooltips, and
 *   setHistory(history)  names the table
 *   show(version)        names a version; gives its position, -1 if it is not among those shown
 *   tell(text)           says something about all of it, "" for nothing
 */
export function versionHead(refresh: HTMLButtonElement) {
  let history!: History;
  const heading = node("h3");
  const when = node("span", { class: "lx-quiet" });
  const total = node("span", { class: "lx-quiet lx-total" });
  const note = node("div", { class: "lx-note", role: "status", hidden: true });
  const told = node("div", { class: "lx-note", hidden: true });

  return {
    element: node(
      "header",
      {},
      node("div", { class: "lx-version-heading" }, heading, when, total, refresh),
      note,
      told,
    ),
    setHistory(newest: History) {
      history = newest;
      total.textContent = `${tableWords(history)}: ${plural(history.count, "version")}`;
    },
    show(version: string) {
      const position = history.positionOf(version) ?? -1;
      heading.textContent = `Version ${count(version)}`;
      const time = position < 0 ? null : history.timeAt(position);
      when.textContent = time ? `${relativeTime(time)} · ${absoluteTime(time)}` : "";
      note.hidden = position >= 0;
      note.textContent =
        position < 0
          ? `Version ${count(version)} is not among the ${count(history.count)} that are shown; Refresh looks for new ones`
          : "";
      return position;
    },
    tell(text: string) {
      told.hidden = !text;
      told.textContent = text;
    },
    describe: (p: number) => describeVersion(history, p),
  };
}

/** Sentences, one a line: `element`, `show(sentences)`. */
export function sentenceList() {
  const element = node("ul", { class: "lx-sentences" });
  return {
    element,
    show(sentences: string[]) {
      fill(element, ...sentences.map((text) => node("li", {}, ...rich(text))));
    },
  };
}
