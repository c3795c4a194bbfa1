// The sections of an answer, whatever it answers: sentences that lead to what they tell of, and tables.

import { node, rich } from "./elements";
import type { AnswerLine, AnswerPlace, AnswerSection } from "./messages";
import { cut, visible } from "./text";

/** What leads from a sentence to a view; none of it can be followed by default. */
export interface Leads {
  canOpen: (place: AnswerPlace) => boolean;
  onOpen: (place: AnswerPlace) => void;
}

const NOWHERE: Leads = { canOpen: () => false, onOpen: () => {} };

/** All sections, each with its title if it has one. */
export function sectionsOf(sections: AnswerSection[], leads = NOWHERE) {
  return sections.map((section) => sectionOf(section, leads));
}

export function sectionOf({ name, title, is_warning, lines, columns, rows, num_rows }: AnswerSection, leads = NOWHERE) {
  const more = num_rows - rows.length;
  return node(
    "div",
    is_warning ? { class: "lx-refusal lx-breaks", role: "note" } : { "data-section": name },
    title ? node(is_warning ? "strong" : "div", {}, ...rich(title)) : null,
    lines.length === 1 && !title && !lines[0].place
      ? node("div", {}, ...rich(cut(lines[0].words, 1000)))
      : lines.length
        ? node("ul", {}, ...lines.map((line) => node("li", {}, lineOf(line, leads))))
        : null,
    rows.length ? table(columns, rows) : null,
    more > 0 ? node("div", { class: "lx-quiet" }, `and ${more.toLocaleString("en")} more`) : null,
  );
}

function lineOf({ words, place }: AnswerLine, { canOpen, onOpen }: Leads) {
  const told = rich(cut(words, 600));
  return place && canOpen(place)
    ? node("button", { class: "lx-search-line", onclick: () => onOpen(place) }, ...told)
    : node("span", {}, ...told);
}

function table(columns: AnswerSection["columns"], rows: AnswerSection["rows"]) {
  const style = (at: number) => ({ "text-align": columns[at].is_number ? "right" : "left" });
  const cells = (texts: (string | null)[], tag: "th" | "td") =>
    node("tr", {}, ...texts.map((text, at) => node(tag, { style: style(at) }, visible(text ?? ""))));
  return node(
    "div",
    { style: { "overflow-x": "auto" } },
    node(
      "table",
      {},
      node(
        "thead",
        {},
        cells(
          columns.map(({ name }) => name),
          "th",
        ),
      ),
      node("tbody", {}, ...rows.map((row) => cells(row, "td"))),
    ),
  );
}
