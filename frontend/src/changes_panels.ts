// What stands between the time line and the rows beside counts: other differences, the question whether all values
// are the same, keys, and what the rows are narrowed to.

import type { RowChoice } from "./changes_bars";
import { mayBeSame } from "./changes_words";
import { fill, node, rich } from "./elements";
import type { Comparison, SameContent } from "./messages";
import { cut, visible } from "./text";

/** What is said of the question whether all values are the same. */
interface Settled {
  text: string;
  same?: string;
  isAsked?: boolean;
  line?: string;
}

/** What differs beside rows, in words: `element`, `show(sentences, isLead)`; it leads where no row differs. */
export function besideRows() {
  const title = node("h4");
  const list = node("ul", { class: "lx-sentences" });
  const element = node("section", { class: "lx-beside", "aria-label": "Other differences", hidden: true }, title, list);
  return {
    element,
    show(sentences: string[], isLead: boolean) {
      element.hidden = !sentences.length;
      element.classList.toggle("lx-lead", isLead);
      title.textContent = isLead ? "No row differs. What did change:" : "Other differences";
      fill(list, ...sentences.map((text) => node("li", {}, ...rich(text))));
    },
  };
}

/** Whether any value differs: a question, a button that asks it, the answer: `element`, `follow(about)`. */
export function contentCheck({
  onAsk,
}: {
  onAsk: (begin: string, end: string, onFailure: () => void) => Promise<SameContent>;
}) {
  const words = node("span", { role: "status" });
  const code = node("code");
  const button = node(
    "button",
    {
      class: "lx-button lx-small",
      title: "Reads the values of all fragments that differ, from both versions",
      onclick: ask,
    },
    "Compare all values",
  );
  const element = node(
    "div",
    { class: "lx-content", hidden: true },
    node("strong", {}, "Same content?"),
    words,
    button,
    code,
  );
  let range: [string, string] | null = null;
  function settle({ text, same = "", isAsked = false, line = "" }: Settled) {
    words.textContent = text;
    element.dataset.same = same;
    button.hidden = Boolean(same);
    button.disabled = isAsked;
    code.textContent = line;
    code.hidden = !line;
  }
  async function ask() {
    const asked = range;
    if (!asked) return;
    const isWanted = () => range === asked;
    settle({ text: "reading the values of both versions…", isAsked: true });
    const found = await onAsk(...asked, () => isWanted() && settle({ text: "That could not be found out." }));
    if (isWanted()) settle({ text: visible(found.words), same: found.is_same ? "yes" : "no", line: found.code });
  }
  return {
    element,
    /** Offer it where counts do not tell that some values differ. */
    follow(about: Comparison) {
      const { begin, end } = about;
      element.hidden = begin === "0" || begin === end || !mayBeSame(about);
      if (element.hidden) {
        range = null;
        return;
      }
      if (range?.[0] === begin && range[1] === end) return;
      range = [begin, end];
      settle({
        text: "The counts here come from metadata; to find out whether every value is the same, the values must be read.",
      });
    },
  };
}

/** The chooser of key columns: `element`, `setColumns(names)`, `show(key)`. */
export function keyChooser({ onKey }: { onKey: (key: string[]) => void }) {
  const summary = node("summary");
  const list = node("div", { class: "lx-key-list" });
  const element = node(
    "details",
    { class: "lx-key" },
    summary,
    node(
      "p",
      { class: "lx-quiet" },
      "A deleted row and an inserted row with the same key count as one updated row. The key columns are read for that.",
    ),
    list,
  );
  let chosen: string[] = [];
  let boxes: HTMLInputElement[] = [];
  function pick() {
    onKey(boxes.filter((box) => box.checked).map((box) => box.value));
  }
  return {
    element,
    open: () => (element.open = true),
    setColumns(names: string[]) {
      boxes = names.slice(0, 200).map((name) => {
        const box = node("input", { type: "checkbox", onchange: pick });
        box.value = name;
        return box;
      });
      fill(list, ...boxes.map((box) => node("label", { class: "lx-check" }, box, cut(box.value, 60))));
      this.show(chosen);
    },
    show(key: string[]) {
      chosen = key;
      for (const box of boxes) box.checked = key.includes(box.value);
      summary.textContent = key.length ? `Rows matched by ${cut(key.join(", "), 120)}` : "Match rows by a key";
    },
  };
}

/** What the rows are narrowed to, each a button that shows all again. */
export function choiceChips(
  { change, column }: Pick<Comparison, "change" | "column">,
  onPick: (choice: RowChoice) => void,
) {
  const chip = (name: string, text: string, choice: RowChoice) =>
    node(
      "button",
      {
        class: "lx-chip",
        title: "Show all again",
        "aria-label": `Show all again, not only ${text}`,
        onclick: () => onPick(choice),
      },
      `${name}: ${text}`,
      " ✕",
    );
  return [
    change ? chip("only", change.replace("_", " "), { change: null }) : null,
    column ? chip("only where differs", cut(column, 60), { column: null }) : null,
  ];
}
