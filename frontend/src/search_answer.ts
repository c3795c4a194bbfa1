// The answer below a search box: a sentence, lines that lead to what they tell of, and its code.

import { toClipboard } from "./clipboard";
import { fill, node, rich } from "./elements";
import type { Answer, AnswerLine } from "./messages";
import { cut, visible } from "./text";

export interface AnswerActions {
  /** Search further for rows. */
  onMore: () => void;
  /** Show what a line of an answer tells of. */
  onOpen: (line: AnswerLine, answer: Answer) => void;
  canOpen: (line: AnswerLine) => boolean;
}

/** Gives `element`, `show(answer)`, `hide()`. */
export function searchAnswer({ onMore, onOpen, canOpen }: AnswerActions) {
  const element = node("div", { class: "lx-search-answer", role: "status", hidden: true });

  function lineOf(line: AnswerLine, answer: Answer) {
    const words = rich(cut(line.words, 600));
    return node(
      "li",
      {},
      canOpen(line)
        ? node("button", { class: "lx-search-line", onclick: () => onOpen(line, answer) }, ...words)
        : node("span", {}, ...words),
    );
  }

  function show(answer: Answer) {
    const { place, sentence, lines, code } = answer;
    const copy: HTMLButtonElement = node(
      "button",
      {
        class: "lx-button lx-small",
        title: `Copy:\n${visible(code)}`,
        onclick: async () => {
          copy.textContent = (await toClipboard(code)) ? "Copied" : "The browser did not allow copying";
        },
      },
      "Copy answer as code",
    );
    fill(
      element,
      node("p", { class: "lx-search-sentence" }, ...rich(cut(sentence, 1000))),
      node("ul", {}, ...lines.map((line) => lineOf(line, answer))),
      node(
        "div",
        { class: "lx-search-actions" },
        place && canOpen(place)
          ? node("button", { class: "lx-button lx-small", onclick: () => onOpen(place, answer) }, visible(place.words))
          : null,
        answer.can_go_on ? node("button", { class: "lx-button lx-small", onclick: onMore }, "Search on") : null,
        copy,
        node("button", { class: "lx-button lx-small", onclick: hide }, "Close"),
      ),
    );
    element.hidden = false;
  }

  function hide() {
    element.hidden = true;
  }

  return { element, show, hide };
}
