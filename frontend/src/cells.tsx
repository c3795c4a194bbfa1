// What a cell shows: text, what it was before, a picture, or a vector as a line.

import "./cells.css";
import { useSignal } from "@preact/signals";
import { render } from "preact";
import type { CellPiece } from "./messages";
import { set } from "./reactive";
import { visible } from "./text";

/** The contents of a cell; `earlier` is undefined where the cell did not change. */
export interface Contents {
  text: string | null;
  earlier?: string | null;
  piece?: CellPiece | null;
  isAbsent?: boolean;
}

const drawn = new WeakMap<Element, string>();

/** Put contents into a cell, unless they are there. */
export function fillCell(cell: HTMLElement, contents: Contents) {
  const key = JSON.stringify(contents);
  if (drawn.get(cell) === key) return;
  drawn.set(cell, key);
  render(shownIn(contents), cell);
}

function shownIn({ text, earlier, piece, isAbsent }: Contents) {
  if (isAbsent) return "–";
  const now = piece ? pieceOf(piece, text) : valueText(text);
  if (earlier === undefined) return now;
  return (
    <div class="lx-cell-change">
      <del>{valueText(earlier)}</del>
      <span class="lx-to"> → </span>
      <ins>{now}</ins>
    </div>
  );
}

function valueText(text: string | null) {
  return text === null ? "null" : visible(text);
}

/** A picture, a sound's name or a line with the text of its vector. */
export function pieceOf(piece: CellPiece, text: string | null) {
  if (piece.kind === "line")
    return (
      <>
        {lineOf(piece.points, "lx-line")}
        <span>{valueText(text)}</span>
      </>
    );
  return (
    <>
      {piece.kind === "audio" && (
        <span class="lx-play" aria-hidden="true">
          ▶
        </span>
      )}
      {piece.kind === "image" && piece.data !== null && (
        <Picture data={piece.data} words={piece.words} style="lx-thumb" />
      )}
      <span class="lx-piece-words">{visible(piece.words)}</span>
    </>
  );
}

/** A picture; where the browser cannot show it, nothing but its words beside it. */
export function Picture({ data, words, style }: { data: string; words: string; style: string }) {
  const broken = useSignal("");
  if (broken.value === data) return "cannot be shown: ";
  return <img class={style} src={data} alt={words} draggable={false} onError={() => set(broken, data)} />;
}

/** A line through points with heights from 0 to 1, with gaps where there is none. */
export function lineOf(points: (number | null)[], style: string) {
  return (
    <svg
      class={style}
      viewBox={`0 0 ${Math.max(1, points.length - 1)} 1`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={pathOf(points)} />
    </svg>
  );
}

/** The commands of a path through points, from the left to the right. */
export function pathOf(points: (number | null)[]) {
  let isGap = true;
  const commands = points.flatMap((height, x) => {
    if (height === null) {
      isGap = true;
      return [];
    }
    const command = `${isGap ? "M" : "L"}${x} ${Number((1 - height).toFixed(3))}`;
    isGap = false;
    return [command];
  });
  return commands.join("");
}
