// The search box of the explorer: what can be asked is shown below it, and so is the answer.

import "./search_box.css";
import { toClipboard } from "./clipboard";
import { fill, node, rich, setAttributes } from "./elements";
import type { Answer, AnswerLine, Example } from "./messages";
import { cut, visible } from "./text";

interface SearchActions {
  onSearch: (text: string) => void;
  /** Search further for rows. */
  onMore: () => void;
  /** Show what a line of an answer tells of. */
  onOpen: (line: AnswerLine, answer: Answer) => void;
  canOpen: (line: AnswerLine) => boolean;
  askExamples: () => Promise<Example[]>;
}

const MOST_TRIED = 3; // examples beside an empty box, which a click tries

/** The examples that what is typed leaves: all of its words are in them, in any order. */
export function matching(examples: Example[], typed: string) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return examples.filter(({ text, hint }) => words.every((word) => `${text} ${hint}`.toLowerCase().includes(word)));
}

/** `element` and, below it, `answer`; `tell(problem)`, `show(answer)`, `focus()`. */
export function searchBox({ onSearch, onMore, onOpen, canOpen, askExamples }: SearchActions) {
  let examples: Example[] | null = null;
  let chosen = -1;
  const listId = `lx-search-${Math.random().toString(36).slice(2)}`;
  const box: HTMLInputElement = node("input", {
    class: "lx-input lx-explorer-search",
    type: "search",
    spellcheck: "false",
    autocomplete: "off",
    maxlength: 200,
    placeholder: "id = 42, v12, yesterday, a question (Ctrl+K)",
    "aria-label": "Search for a version, a tag, a time, a row, a fragment, an address, a value, or ask a question",
    "aria-controls": listId,
    "aria-expanded": "false",
  });
  const list = node("div", {
    class: "lx-search-list",
    id: listId,
    role: "listbox",
    "aria-label": "Examples",
    hidden: true,
  });
  const problem = node("div", { class: "lx-note", role: "alert", hidden: true });
  const answerPane = node("div", { class: "lx-search-answer", role: "status", hidden: true });

  function submit() {
    if (!box.value.trim()) return;
    close();
    onSearch(box.value);
  }

  box.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const shown = [...list.querySelectorAll<HTMLElement>("[role=option]")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && !list.hidden && shown.length) {
      mark((chosen + step + shown.length) % shown.length);
      event.preventDefault();
    } else if (event.key === "Enter") {
      if (!list.hidden && chosen >= 0) shown[chosen].click();
      else submit();
    } else if (event.key === "Escape") {
      if (list.hidden) tell("");
      else event.preventDefault(); // what is typed stays
      close();
    }
  });
  box.addEventListener("input", () => {
    tell("");
    open();
  });
  box.addEventListener("focus", open);
  box.addEventListener("blur", close);

  let opened = 0; // how often the list was opened or closed

  async function open() {
    if (box.disabled) return;
    opened += 1;
    const mine = opened;
    examples ??= await askExamples();
    if (mine !== opened) return; // somebody has gone on while they came
    if (document.activeElement !== box && !box.matches(":focus")) return;
    const found = matching(examples, box.value);
    chosen = -1;
    fill(
      list,
      ...found.map((example, at) =>
        node(
          "div",
          {
            class: "lx-search-example",
            role: "option",
            id: `${listId}-${at}`,
            "aria-selected": "false",
            onmousedown: (event) => event.preventDefault(), // the box keeps the focus
            onclick: () => take(example),
          },
          node("code", {}, `${visible(example.text.trim())}${example.text.endsWith(" ") ? " …" : ""}`),
          node("span", { class: "lx-quiet" }, visible(example.hint)),
        ),
      ),
      found.length
        ? null
        : node(
            "div",
            { class: "lx-quiet lx-search-none" },
            "Enter searches for a version, a tag, a time, a row or a value.",
          ),
    );
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
  }

  function close() {
    opened += 1;
    list.hidden = true;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }

  function mark(at: number) {
    chosen = at;
    list.querySelectorAll("[role=option]").forEach((option, i) => {
      option.setAttribute("aria-selected", String(i === at));
    });
    box.setAttribute("aria-activedescendant", `${listId}-${at}`);
  }

  /** Ask an example, or let it be completed. */
  function take({ text }: Example) {
    box.value = text;
    if (text.endsWith(" ")) {
      box.focus();
      close();
    } else submit();
  }

  function tell(text: string) {
    problem.hidden = !text;
    problem.textContent = cut(text, 1000);
    box.setAttribute("aria-invalid", String(Boolean(text)));
    if (text) answerPane.hidden = true;
  }

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
      answerPane,
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
        node("button", { class: "lx-button lx-small", onclick: () => hide() }, "Close"),
      ),
    );
    answerPane.hidden = false;
  }

  function hide() {
    answerPane.hidden = true;
  }

  const tried = node("div", { class: "lx-search-tried lx-quiet" });
  askExamples().then((found) => {
    examples = found;
    if (!found.length) return;
    fill(
      tried,
      "Try ",
      ...found
        .filter(({ text }) => !text.endsWith(" "))
        .slice(0, MOST_TRIED)
        .map((example) =>
          node(
            "button",
            { class: "lx-search-try", title: visible(example.hint), onclick: () => take(example) },
            visible(example.text),
          ),
        ),
    );
  });

  const go = node("button", { class: "lx-button", onclick: submit }, "Go");
  return {
    element: node("div", { class: "lx-explorer-find" }, node("div", { class: "lx-search-box" }, box, list), go),
    tried,
    answer: node("div", {}, problem, answerPane),
    tell,
    show,
    hide,
    /** Another table has other examples. */
    forget() {
      examples = null;
      hide();
    },
    /** Nothing can be searched for here. */
    disable(why: string) {
      for (const control of [box, go]) setAttributes(control, { disabled: "", title: why });
      box.placeholder = "The search needs Python";
      tried.hidden = true;
    },
    focus() {
      box.focus();
      box.select();
      open();
    },
  };
}
