// What a cell shows: text, what it was before, a picture, or a vector as a line.

import "./cells.css";
import { fill, node } from "./elements";
import type { CellPiece } from "./messages";
import { visible } from "./text";

/** The contents of a cell; `earlier` is undefined where the cell did not change. */
export interface Contents {
  text: string | null;
  earlier?: string | null;
  piece?: CellPiece | null;
  isAbsent?: boolean;
}

const SVG = "http://www.w3.org/2000/svg";

const drawn = new WeakMap<Element, string>();

/** Put contents into a cell, unless they are there. */
export function fillCell(cell: HTMLElement, contents: Contents) {
  const key = JSON.stringify(contents);
  if (drawn.get(cell) === key) return;
  drawn.set(cell, key);
  const { text, earlier, piece, isAbsent } = contents;
  if (isAbsent) cell.textContent = "–";
  else if (earlier !== undefined) {
    const change = [
      node("del", {}, valueText(earlier)),
      node("span", { class: "lx-to" }, " → "),
      node("ins", {}, ...(piece ? pieceOf(piece, text) : [valueText(text)])),
    ];
    fill(cell, node("div", { class: "lx-cell-change" }, ...change));
  } else if (piece) fill(cell, ...pieceOf(piece, text));
  else cell.textContent = valueText(text);
}

function valueText(text: string | null) {
  return text === null ? "null" : visible(text);
}

/** A picture, a sound's name or a line with the text of its vector. */
export function pieceOf(piece: CellPiece, text: string | null) {
  if (piece.kind === "line") return [lineOf(piece.points, "lx-line"), node("span", {}, valueText(text))];
  const words = node("span", { class: "lx-piece-words" }, visible(piece.words));
  if (piece.kind === "audio") return [node("span", { class: "lx-play", "aria-hidden": "true" }, "▶"), words];
  return piece.data === null ? [words] : [pictureOf(piece.data, piece.words, "lx-thumb"), words];
}

/** A picture; where the browser cannot show it, nothing but its words beside it. */
export function pictureOf(data: string, words: string, style: string) {
  const picture = node("img", { class: style, src: data, alt: words, draggable: "false" });
  picture.addEventListener("error", () => picture.replaceWith("cannot be shown: "));
  return picture;
}

/** A line through points with heights from 0 to 1, with gaps where there is none. */
export function lineOf(points: (number | null)[], style: string) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", style);
  svg.setAttribute("viewBox", `0 0 ${Math.max(1, points.length - 1)} 1`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", pathOf(points));
  svg.append(path);
  return svg;
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
