// The answer below a search box: a sentence, lines that lead to what they tell of, and its code.

import { sectionsOf } from "./answer_sections";
import { toClipboard } from "./clipboard";
import { fill, node, rich } from "./elements";
import type { AnswerPlace, SearchAnswer } from "./messages";
import { cut, visible } from "./text";

export interface AnswerActions {
  /** Search further for rows. */
  onMore: () => void;
  /** Show what an answer, or a line of one, tells of. */
  onOpen: (place: AnswerPlace) => void;
  canOpen: (place: AnswerPlace) => boolean;
}

/** Gives `element`, `show(answer)`, `hide()`. */
export function searchAnswer({ onMore, onOpen, canOpen }: AnswerActions) {
  const element = node("div", { class: "lx-search-answer", role: "status", hidden: true });

  function show(answer: SearchAnswer) {
    const { place, sentence, sections, findings, code } = answer;
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
      ...sectionsOf(sections, { canOpen, onOpen }),
      findings.length
        ? node("ul", {}, ...findings.map((found) => node("li", {}, ...rich(cut(found.sentence, 600)))))
        : null,
      node(
        "div",
        { class: "lx-search-actions" },
        place && canOpen(place)
          ? node("button", { class: "lx-button lx-small", onclick: () => onOpen(place) }, visible(place.words))
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
