// What stands around the picture of segments: choices, the meaning of colours, and the encodings in numbers.

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { legendEntry, swatch } from "./legend";
import type { EncodingStatistics, EncodingsVersion, SegmentMode } from "./messages";
import { set } from "./reactive";
import { ENCODING_WORDS } from "./segments";
import { bytes, count, known, perRow, plural } from "./text";

const MODE_WORDS = { position: "by position", row_id: "by row ID" };

/** What the horizontal axis is. */
export function ModeChoice({ mode }: { mode: Signal<SegmentMode> }) {
  return (
    <span class="lx-modes" role="group" aria-label="Horizontal axis">
      {(Object.keys(MODE_WORDS) as SegmentMode[]).map((name) => (
        <button class="lx-button" data-mode={name} aria-pressed={name === mode.value} onClick={() => set(mode, name)}>
          {MODE_WORDS[name]}
        </button>
      ))}
    </span>
  );
}

interface FragmentProps {
  of: Pick<EncodingsVersion, "choices" | "num_fragments">;
  /** The chosen one; null is all of them. */
  id: string | null;
  onChoose: (id: string | null) => void;
}

/** Of which fragment segments are told. */
export function FragmentChoice({ of: { choices, num_fragments: fragments }, id, onChoose }: FragmentProps) {
  const cutOff = choices.length < fragments ? ` (${count(choices.length)} of ${count(fragments)} to choose from)` : "";
  return (
    <label class="lx-quiet">
      fragment{" "}
      <select
        class="lx-input"
        aria-label="Fragment"
        value={id ?? ""}
        onChange={({ currentTarget }) => onChoose(currentTarget.value || null)}
      >
        <option value="">all{cutOff}</option>
        {choices.map((choice) => (
          <option value={choice}>{count(choice)}</option>
        ))}
      </select>
    </label>
  );
}

/** The encodings that there are with their colours, and how to read the picture. */
export function segmentLegend(
  { segments: { rows: shown, kinds, kind, bytes: sizes }, num_fragments: fragments, one, mode }: EncodingsVersion,
  colors: Record<string, string>,
): ComponentChildren {
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
  if (one) notes.push("below: the chosen fragment alone");
  return [...entries, <span class="lx-quiet">{notes.join("; ")}</span>];
}

const HEADS = ["encoding", "segments", "of one row", "row IDs", "bytes", "bytes each"];

/** The encodings of `what` in numbers. */
export function statisticsTable(statistics: EncodingStatistics[], colors: Record<string, string>, what: string) {
  return (
    <div class="lx-scroll">
      <table class="lx-table lx-statistics">
        <caption>Encodings of {what}</caption>
        <thead>
          <tr>
            {HEADS.map((head, i) => (
              <th scope="col" class={i ? "lx-number" : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {statistics.map(({ encoding, one_row, num_values, bytes: size, bytes_per_row, ...row }) => (
            <tr>
              <td>{legendEntry(swatch(colors[encoding]), ENCODING_WORDS(encoding))}</td>
              {[
                count(row.count),
                count(one_row),
                count(num_values),
                known(size, bytes),
                known(bytes_per_row, perRow),
              ].map((text) => (
                <td class="lx-number">{text}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
