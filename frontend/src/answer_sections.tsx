// The sections of an answer, whatever it answers: sentences that lead to what they tell of, and tables.

import type { ComponentChild } from "preact";
import { rich } from "./elements";
import type { AnswerLine, AnswerPlace, AnswerSection } from "./messages";
import { cut, visible } from "./text";

/** What leads from a sentence to a view; none of it can be followed by default. */
export interface Leads {
  canOpen: (place: AnswerPlace) => boolean;
  onOpen: (place: AnswerPlace) => void;
}

/** Texts of more characters are broken anywhere, so that a table keeps within its view. */
const LONG = 30;

const NOWHERE: Leads = { canOpen: () => false, onOpen: () => {} };

/** All sections, each with its title if it has one. */
export function sectionsOf(sections: AnswerSection[], leads = NOWHERE) {
  return sections.map((section) => sectionOf(section, leads));
}

/** A section; `nothing` stands in cells that are null. */
export function sectionOf(
  { name, title, is_warning, lines, columns, rows, num_rows }: AnswerSection,
  leads = NOWHERE,
  nothing: ComponentChild = "",
) {
  const more = num_rows - rows.length;
  const Title = is_warning ? "strong" : "div";
  return (
    <div {...(is_warning ? { class: "lx-refusal lx-breaks", role: "note" as const } : { "data-section": name })}>
      {title && <Title>{rich(title)}</Title>}
      {lines.length === 1 && !title && !lines[0].place ? (
        <div>{rich(cut(lines[0].words, 1000))}</div>
      ) : (
        lines.length > 0 && (
          <ul>
            {lines.map((line) => (
              <li>{lineOf(line, leads)}</li>
            ))}
          </ul>
        )
      )}
      {rows.length > 0 && table(columns, rows, nothing)}
      {more > 0 && <div class="lx-quiet">and {more.toLocaleString("en")} more</div>}
    </div>
  );
}

function lineOf({ words, place }: AnswerLine, { canOpen, onOpen }: Leads) {
  const told = rich(cut(words, 600));
  return place && canOpen(place) ? (
    <button class="lx-search-line" onClick={() => onOpen(place)}>
      {told}
    </button>
  ) : (
    <span>{told}</span>
  );
}

function table(columns: AnswerSection["columns"], rows: AnswerSection["rows"], nothing: ComponentChild) {
  const cells = (texts: (string | null)[], Cell: "th" | "td") => (
    <tr>
      {texts.map((text, at) => (
        <Cell
          class={(text?.length ?? 0) > LONG ? "lx-search-long" : undefined}
          style={{ textAlign: columns[at].is_number ? "right" : "left" }}
        >
          {text === null ? nothing : columns[at].is_words ? rich(text) : visible(text)}
        </Cell>
      ))}
    </tr>
  );
  const names = columns.map(({ name }) => name);
  return (
    <div style={{ overflowX: "auto" }}>
      <table>
        <thead>{cells(names, "th")}</thead>
        <tbody>{rows.map((row) => cells(row, "td"))}</tbody>
      </table>
    </div>
  );
}
