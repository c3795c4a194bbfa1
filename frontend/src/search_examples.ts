// Examples of what can be searched for: below the box as somebody types, and beside it to be tried.

import { fill, node, setAttributes } from "./elements";
import type { Example } from "./messages";
import { visible } from "./text";

const MOST_TRIED = 3; // examples beside an empty box, which a click tries

interface ExampleActions {
  ask: () => Promise<Example[]>;
  onTake: (example: Example) => void;
}

/**
 * The examples for a box: `list` with those that fit what is typed, of which `step(by)` chooses one
 * and `takeChosen()` takes it, `open()`, `close()`, `isOpen()`; `tried` with the first; `forget()`
 * when there are others.
 */
export function searchExamples(box: HTMLInputElement, { ask, onTake }: ExampleActions) {
  const id = `lx-search-${Math.random().toString(36).slice(2)}`;
  let examples: Example[] | null = null;
  let shown: HTMLElement[] = [];
  let chosen = -1;
  let opened = 0; // how often the list was opened or closed
  const list = node("div", { class: "lx-search-list", id, role: "listbox", "aria-label": "Examples", hidden: true });
  const tried = node("div", { class: "lx-search-tried lx-quiet" });
  setAttributes(box, { "aria-controls": id, "aria-expanded": "false" });
  ask().then((found) => {
    examples = found;
    if (found.length) fill(tried, "Try ", ...triable(found).map((example) => tryButton(example, onTake)));
  });

  async function open() {
    if (box.disabled) return;
    opened += 1;
    const mine = opened;
    examples ??= await ask();
    if (mine !== opened) return; // somebody has gone on while they came
    if (document.activeElement !== box && !box.matches(":focus")) return;
    shown = matching(examples, box.value).map((example, at) => exampleOption(example, `${id}-${at}`, onTake));
    chosen = -1;
    const none = node(
      "div",
      { class: "lx-quiet lx-search-none" },
      "Enter searches for a version, a tag, a time, a row or a value.",
    );
    fill(list, ...(shown.length ? shown : [none]));
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
  }

  return {
    list,
    tried,
    open,
    isOpen: () => !list.hidden,
    close() {
      opened += 1;
      list.hidden = true;
      box.setAttribute("aria-expanded", "false");
      box.removeAttribute("aria-activedescendant");
    },
    /** Whether there was one to choose. */
    step(by: number) {
      if (list.hidden || !shown.length) return false;
      chosen = (chosen + by + shown.length) % shown.length;
      for (const [at, option] of shown.entries()) option.setAttribute("aria-selected", String(at === chosen));
      box.setAttribute("aria-activedescendant", `${id}-${chosen}`);
      return true;
    },
    /** Whether one was chosen. */
    takeChosen() {
      if (list.hidden || chosen < 0) return false;
      shown[chosen].click();
      return true;
    },
    forget() {
      examples = null;
    },
  };
}

/** The examples that what is typed leaves: all of its words are in them, in any order. */
export function matching(examples: Example[], typed: string) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return examples.filter(({ text, hint }) => words.every((word) => `${text} ${hint}`.toLowerCase().includes(word)));
}

/** Whether an example is to be completed before it can be asked. */
export function isBegun({ text }: Example) {
  return text.endsWith(" ");
}

/** The first examples that can be asked as they are. */
export function triable(examples: Example[]) {
  return examples.filter((example) => !isBegun(example)).slice(0, MOST_TRIED);
}

function exampleOption(example: Example, id: string, onTake: (example: Example) => void) {
  return node(
    "div",
    {
      class: "lx-search-example",
      role: "option",
      id,
      "aria-selected": "false",
      onmousedown: (event) => event.preventDefault(), // the box keeps the focus
      onclick: () => onTake(example),
    },
    node("code", {}, `${visible(example.text.trim())}${isBegun(example) ? " …" : ""}`),
    node("span", { class: "lx-quiet" }, visible(example.hint)),
  );
}

function tryButton(example: Example, onTake: (example: Example) => void) {
  return node(
    "button",
    { class: "lx-search-try", title: visible(example.hint), onclick: () => onTake(example) },
    visible(example.text),
  );
}
