// One value, whole, below the grid: text as it is, structs unfolded, pictures, sound, vectors as lines.

import { signal } from "@preact/signals";
import { lineOf, Picture } from "./cells";
import { toClipboard } from "./clipboard";
import type { Link } from "./link";
import type { CellDetail, GridViewQuestions, WholeValue } from "./messages";
import { set } from "./reactive";
import { count, cut, visible } from "./text";
import { unfolded } from "./unfolded";

/** The pane: `open(row, column)`, `close()`, `isOpen()`, and `Pane`, which draws it. */
export function detailPane(link: Link<GridViewQuestions>, onClose: () => void) {
  const shown = signal<CellDetail | null>(null);

  function close() {
    shown.value = null;
    onClose();
  }

  function Pane() {
    const got = shown.value;
    if (!got) return null;
    return (
      <section class="lx-detail" aria-label="The whole value" onKeyDown={({ key }) => key === "Escape" && close()}>
        <div class="lx-bar">
          <strong>{cut(got.name, 100)}</strong>
          <span class="lx-quiet">{factsOf(got)}</span>
          <button class="lx-button" onClick={() => toClipboard(got.text ?? "")}>
            Copy
          </button>
          <button class="lx-button" onClick={close}>
            Close
          </button>
        </div>
        <div class="lx-detail-picture">{pictured(got)}</div>
        <pre tabIndex={0}>
          {got.earlier && (
            <>
              <del>{textOf(got.earlier, got)}</del>
              {"\n→\n"}
            </>
          )}
          {got.earlier ? <ins>{textOf(got, got)}</ins> : textOf(got, got)}
        </pre>
      </section>
    );
  }

  return {
    Pane,
    close,
    isOpen: () => shown.value !== null,
    open: async (row: number, column: number) => set(shown, await link.ask("detail", { row, column })),
  };
}

function factsOf(got: CellDetail) {
  const piece = got.piece && got.piece.kind !== "line" ? ` · ${got.piece.words}` : "";
  return `${cut(got.dtype, 200)} · row ${count(got.position)}${piece || sizeOf(got)}${got.note ? ` · ${got.note}` : ""}`;
}

function sizeOf({ size, shown, unit }: WholeValue) {
  if (size === null || shown === null) return "";
  return shown < size ? ` · ${count(shown)} of ${count(size)} ${unit}` : ` · ${count(size)} ${unit}`;
}

function textOf({ text }: WholeValue, { kind }: CellDetail) {
  if (text === null) return <span class="lx-null">null</span>;
  const lines = kind === "nested" ? unfolded(text) : text;
  return lines.split("\n").map(visible).join("\n");
}

function pictured({ piece }: CellDetail) {
  if (!piece) return null;
  const words = <p class="lx-quiet">{visible(piece.words)}</p>;
  if (piece.kind === "line") return [lineOf(piece.points, "lx-long-line"), words];
  if (piece.data === null) return <p class="lx-quiet">It is too large to be shown here.</p>;
  if (piece.kind === "image") return <Picture data={piece.data} words={piece.words} style="lx-detail-image" />;
  // biome-ignore lint/a11y/useMediaCaption: a sound of a table has no captions
  return <audio controls src={piece.data} aria-label={piece.words} />;
}
