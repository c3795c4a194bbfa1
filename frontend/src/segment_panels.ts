// What stands around the picture of segments: choices, the meaning of colours, and the encodings in numbers.

import type { Child } from "./elements";
import { fill, node, setAttributes } from "./elements";
import { legendEntry, swatch } from "./legend";
import type { EncodingStatistics, EncodingsVersion, SegmentMode } from "./messages";
import { ENCODING_WORDS, type Segments } from "./segments";
import { bytes, count, perRow, plural } from "./text";

const MODE_WORDS = { position: "by position", row_id: "by row ID" };

/** What the horizontal axis is: `element`, `choose(mode)`. */
export function modeChoice(onChoose: (mode: SegmentMode) => void) {
  const buttons = Object.entries(MODE_WORDS).map(([name, words]) =>
    node("button", { class: "lx-button", "data-mode": name, onclick: () => onChoose(name as SegmentMode) }, words),
  );
  return {
    element: node("span", { class: "lx-modes", role: "group", "aria-label": "Horizontal axis" }, ...buttons),
    choose(mode: SegmentMode) {
      for (const button of buttons) setAttributes(button, { "aria-pressed": button.dataset.mode === mode });
    },
  };
}

/** Of which fragment segments are told: `element`, `show(version, id)`; null is all of them. */
export function fragmentChoice(onChoose: (id: string | null) => void) {
  const box: HTMLSelectElement = node("select", {
    class: "lx-input",
    "aria-label": "Fragment",
    onchange: () => onChoose(box.value || null),
  });
  return {
    element: node("label", { class: "lx-quiet" }, "fragment ", box),
    show({ choices, num_fragments: fragments, is_one: isOne }: EncodingsVersion, id: string | null) {
      const cutOff =
        choices.length < fragments ? ` (${count(choices.length)} of ${count(fragments)} to choose from)` : "";
      fill(
        box,
        node("option", { value: "" }, `all${cutOff}`),
        ...choices.map((choice) => node("option", { value: choice }, count(choice))),
      );
      box.value = isOne && id ? id : "";
    },
  };
}

/** The encodings that there are with their colours, and how to read the picture. */
export function segmentLegend(
  { rows: shown, num_fragments: fragments, is_one: isOne, mode }: EncodingsVersion,
  { kinds, kind, bytes: sizes }: Segments,
  colors: Record<string, string>,
): Child[] {
  const there = new Set(kind);
  const entries = kinds
    .filter((_, k) => there.has(k) || sizes.some((size, i) => size && i % kinds.length === k))
    .map((name) => legendEntry(swatch(colors[name]), ENCODING_WORDS(name)));
  const notes = ["darker: many segments in one place"];
  if (mode === "row_id") notes.push("fainter: few of the row IDs there");
  if (shown.length < fragments)
    notes.push(
      `${plural(fragments, "fragment")} in ${plural(shown.length, "row")}, up to ${count(Math.max(...shown.map(([, , number]) => number)))} each`,
    );
  if (isOne) notes.push("below: the chosen fragment alone");
  return [...entries, node("span", { class: "lx-quiet" }, notes.join("; "))];
}

/** The encodings in numbers: `element`, `show(statistics, colors, what)`. */
export function statisticsTable() {
  const caption = node("caption");
  const body = node("tbody");
  const heads = ["encoding", "segments", "of one row", "row IDs", "bytes", "bytes each"];
  const element = node(
    "div",
    { class: "lx-scroll" },
    node(
      "table",
      { class: "lx-table lx-statistics" },
      caption,
      node(
        "thead",
        {},
        node("tr", {}, ...heads.map((head, i) => node("th", { scope: "col", class: i ? "lx-number" : null }, head))),
      ),
      body,
    ),
  );
  return {
    element,
    show(statistics: EncodingStatistics[], colors: Record<string, string>, what: string) {
      caption.textContent = `Encodings of ${what}`;
      const number = (text: string) => node("td", { class: "lx-number" }, text);
      fill(
        body,
        ...statistics.map((row) =>
          node(
            "tr",
            {},
            node("td", {}, legendEntry(swatch(colors[row.encoding]), ENCODING_WORDS(row.encoding))),
            number(count(row.count)),
            number(count(row.one_row)),
            number(count(row.num_values)),
            number(row.bytes === null ? "unknown" : bytes(row.bytes)),
            number(row.bytes_per_row === null ? "unknown" : perRow(row.bytes_per_row)),
          ),
        ),
      );
    },
  };
}
