// The search box of the explorer: what can be asked is shown below it, and so is the answer.

import "./search_box.css";
import { node, setAttributes } from "./elements";
import { stepOf } from "./keys";
import type { Example } from "./messages";
import { type AnswerActions, searchAnswer } from "./search_answer";
import { isBegun, searchExamples } from "./search_examples";
import { cut } from "./text";

interface SearchActions extends AnswerActions {
  onSearch: (text: string) => void;
  askExamples: () => Promise<Example[]>;
}

/** `element` and, below it, `answer`; `tell(problem)`, `show(answer)`, `focus()`. */
export function searchBox({ onSearch, askExamples, ...actions }: SearchActions) {
  const box = node("input", {
    class: "lx-input lx-explorer-search",
    type: "search",
    spellcheck: "false",
    autocomplete: "off",
    maxlength: 200,
    placeholder: "id = 42, v12, yesterday, a question (Ctrl+K)",
    "aria-label": "Search for a version, a tag, a time, a row, a fragment, an address, a value, or ask a question",
  });
  const examples = searchExamples(box, { ask: askExamples, onTake: take });
  const problem = node("div", { class: "lx-note", role: "alert", hidden: true });
  const answer = searchAnswer(actions);
  const go = node("button", { class: "lx-button", onclick: submit }, "Go");

  function submit() {
    if (!box.value.trim()) return;
    examples.close();
    onSearch(box.value);
  }

  /** Ask an example, or let it be completed. */
  function take(example: Example) {
    box.value = example.text;
    if (isBegun(example)) {
      box.focus();
      examples.close();
    } else submit();
  }

  function tell(text: string) {
    problem.hidden = !text;
    problem.textContent = cut(text, 1000);
    box.setAttribute("aria-invalid", String(Boolean(text)));
    if (text) answer.hide();
  }

  box.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const step = stepOf(event.key, { ArrowDown: 1, ArrowUp: -1 });
    if (step && examples.step(step)) event.preventDefault();
    else if (event.key === "Enter") {
      if (!examples.takeChosen()) submit();
    } else if (event.key === "Escape") {
      if (examples.isOpen())
        event.preventDefault(); // what is typed stays
      else tell("");
      examples.close();
    }
  });
  box.addEventListener("input", () => {
    tell("");
    examples.open();
  });
  box.addEventListener("focus", examples.open);
  box.addEventListener("blur", examples.close);

  return {
    element: node(
      "div",
      { class: "lx-explorer-find" },
      node("div", { class: "lx-search-box" }, box, examples.list),
      go,
    ),
    tried: examples.tried,
    answer: node("div", {}, problem, answer.element),
    tell,
    show: answer.show,
    hide: answer.hide,
    /** Another table has other examples. */
    forget() {
      examples.forget();
      answer.hide();
    },
    /** Nothing can be searched for here. */
    disable(why: string) {
      for (const control of [box, go]) setAttributes(control, { disabled: "", title: why });
      box.placeholder = "The search needs Python";
      examples.tried.hidden = true;
    },
    focus() {
      box.focus();
      box.select();
      examples.open();
    },
  };
}
