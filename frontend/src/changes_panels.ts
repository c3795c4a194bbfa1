// What stands between the time line and the rows: counts by class and by column, and what to know.

import { fill, node, rich } from "./elements";
import type { Cells, ChangeClass, SameContent } from "./messages";
import { count, cut, plural, visible } from "./text";

/** What is said of the question whether all values are the same. */
interface Settled {
  text: string;
  same?: string;
  isAsked?: boolean;
  line?: string;
}

/** A bar that narrows the rows to some of them. */
export interface Bar {
  label: string;
  value: string;
  num_rows: number | null;
  text: string;
  color: string;
  isPicked: boolean;
  hint: string;
}

const FEW_COLUMNS = 8;

/** A list of bars, each a button that narrows the rows: `element`, `show(bars, title, note)`. */
export function barList({ name, onPick }: { name: string; onPick: (value: string | null) => void }) {
  const title = node("h4");
  const note = node("p", { class: "lx-quiet lx-bars-note" });
  const list = node("div", { role: "group", "aria-label": name });
  const more = node("button", {
    class: "lx-button lx-small",
    hidden: true,
    onclick: () => {
      isLong = !isLong;
      draw();
    },
  });
  const element = node("section", { class: "lx-bar-list" }, title, list, more, note);
  let bars: Bar[] = [];
  let isLong = false;
  function draw() {
    const longest = bars.reduce((most, bar) => Math.max(most, bar.num_rows ?? 0), 0);
    const shown = isLong ? bars : bars.filter((bar, i) => i < FEW_COLUMNS || bar.isPicked);
    fill(list, ...shown.map((bar) => barButton(bar, longest, onPick)));
    more.hidden = bars.length <= FEW_COLUMNS;
    more.textContent = isLong ? "Show fewer" : `Show all ${count(bars.length)}`;
  }
  return {
    element,
    show(newest: Bar[], heading: string, words: string) {
      bars = newest;
      title.textContent = heading;
      note.textContent = words;
      note.hidden = !words;
      draw();
    },
  };
}

function barButton(
  { label, value, num_rows, text, color, isPicked, hint }: Bar,
  longest: number,
  onPick: (value: string | null) => void,
) {
  const share = num_rows ? Math.max(0.6, (100 * num_rows) / longest) : 0;
  const fill = node("span", { class: "lx-bar-fill", style: { width: `${share}%`, background: color } });
  return node(
    "button",
    {
      class: "lx-bar-button",
      "aria-pressed": String(isPicked),
      disabled: num_rows === 0 && !isPicked,
      title: hint,
      dataset: { name: value },
      onclick: () => onPick(isPicked ? null : value),
    },
    node("span", { class: "lx-bar-label" }, cut(label, 60)),
    node("span", { class: "lx-bar-track" }, fill),
    node("span", { class: "lx-bar-count" }, text),
  );
}

/** The classes as bars; what differs only in place or by a new column stands last. */
export function classBars(classes: ChangeClass[], change: string | null): Bar[] {
  const hints: Record<string, string> = {
    inserted: "rows that only the later version has",
    deleted: "rows that only the earlier version has",
    updated: "rows whose values changed",
    column_rewritten: "rows whose only change is a rewritten column",
    column_added: "rows whose only change is an added column",
    moved: "rows that only moved to another address",
  };
  return classes
    .filter(
      ({ name, num_rows }) => num_rows !== "0" || ["inserted", "updated", "deleted"].includes(name) || name === change,
    )
    .map(({ name, color, num_rows }) => ({
      label: name.replace("_", " "),
      value: name,
      color,
      isPicked: name === change,
      hint: `${hints[name]}; click to see only these`,
      num_rows: num_rows === null ? null : Number(num_rows),
      text: num_rows === null ? "unknown" : count(num_rows),
    }));
}

export function columnBars(cells: Cells, column: string | null): Bar[] {
  return cells.columns
    .filter(({ name, num_rows }) => num_rows !== "0" || name === column)
    .map(({ name, num_rows, presence }) => ({
      label: presence === "both" ? name : `${name} (${presence})`,
      value: name,
      color: "var(--lx-kind-update)",
      isPicked: name === column,
      hint: `rows in which ${cut(name, 100)} differs; click to see only these`,
      num_rows: Number(num_rows),
      text: count(num_rows),
    }));
}

/** What to know about the columns: of how many rows they are counted, and which have equal values. */
export function columnNote(cells: Cells) {
  const notes = [];
  if (cells.num_compared !== cells.num_rows)
    notes.push(`The first ${count(cells.num_compared)} of ${count(cells.num_rows)} rows were compared.`);
  if (cells.num_rows === "0") notes.push("No row that both versions have differs in its values.");
  else if (cells.num_equal !== "0")
    notes.push(
      `${plural(cells.num_equal, "row")} ${cells.num_equal === "1" ? "was" : "were"} written with the values ${cells.num_equal === "1" ? "it" : "they"} had.`,
    );
  return notes.join(" ");
}

/** What differs beside rows, in words: `element`, `show(sentences, isLead)`; it leads where no row differs. */
export function besideRows() {
  const title = node("h4");
  const list = node("ul", { class: "lx-beside-list" });
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

/** Whether any value differs: a question, a button that asks it, the answer. `offer(begin, end)`; `hide()`. */
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
    offer(begin: string, end: string) {
      element.hidden = false;
      if (range?.[0] === begin && range[1] === end) return;
      range = [begin, end];
      settle({
        text: "The counts here come from metadata; to find out whether every value is the same, the values must be read.",
      });
    },
    hide() {
      element.hidden = true;
      range = null;
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
