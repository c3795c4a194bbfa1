// How many rows differ, by class and by column: bars that narrow the rows below.

import { fill, node } from "./elements";
import type { Cells, ChangeClass, Comparison } from "./messages";
import { count, cut, plural } from "./text";

/** Which rows to show: those of one class, those that differ in one column. */
export interface RowChoice {
  change?: string | null;
  column?: string | null;
}

/** A bar that narrows the rows to some of them. */
interface Bar {
  label: string;
  value: string;
  num_rows: number | null;
  text: string;
  color: string;
  isPicked: boolean;
  hint: string;
}

const FEW_COLUMNS = 8;

/** Both lists of bars: `element`, `show(about)`. */
export function comparisonBars(onPick: (choice: RowChoice) => void) {
  const classes = barList({ name: "Rows by class", onPick: (change) => onPick({ change }) });
  const columns = barList({ name: "Rows by column", onPick: (column) => onPick({ column }) });
  const element = node("div", { class: "lx-bar-lists" }, classes.element, columns.element);
  return {
    element,
    show({ classes: counts, cells, change, column, unchanged }: Comparison) {
      element.hidden = !counts;
      if (!counts) return;
      const rest = unchanged === null ? "" : `${plural(unchanged, "row")} unchanged`;
      classes.show(classBars(counts, change), "Rows by what happened to them", rest);
      const title = "Columns that differ in updated rows";
      if (cells) columns.show(columnBars(cells, column), title, columnNote(cells));
      else columns.show([], title, "comparing cells…");
    },
  };
}

/** A list of bars, each a button that narrows the rows: `element`, `show(bars, title, note)`. */
function barList({ name, onPick }: { name: string; onPick: (value: string | null) => void }) {
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
      class: "lx-line-button lx-bar-button",
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
function classBars(classes: ChangeClass[], change: string | null): Bar[] {
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

function columnBars(cells: Cells, column: string | null): Bar[] {
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
function columnNote(cells: Cells) {
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
