// One value, whole, below the grid: text as it is, structs unfolded, pictures, sound, vectors as lines.

import { lineOf, pictureOf } from "./cells";
import { toClipboard } from "./clipboard";
import { type Child, fill, node } from "./elements";
import type { Link } from "./link";
import type { CellDetail, WholeValue } from "./messages";
import { count, cut, visible } from "./text";
import { unfolded } from "./unfolded";

export function detailPane(link: Link, onClose: () => void) {
  const title = node("strong");
  const facts = node("span", { class: "lx-quiet" });
  const picture = node("div", { class: "lx-detail-picture" });
  const text = node("pre", { tabindex: 0 });
  const copy = node("button", { class: "lx-button", onclick: () => toClipboard(value) }, "Copy");
  const element = node(
    "section",
    {
      class: "lx-detail",
      "aria-label": "The whole value",
      hidden: true,
      onkeydown: (event) => {
        if (event.key === "Escape") close();
      },
    },
    node(
      "div",
      { class: "lx-bar" },
      title,
      facts,
      copy,
      node("button", { class: "lx-button", onclick: close }, "Close"),
    ),
    picture,
    text,
  );
  let value = "";
  function close() {
    element.hidden = true;
    fill(picture); // a sound ends
    onClose();
  }
  async function open(row: number, column: number) {
    const got = await link.ask<CellDetail>("detail", { row, column });
    value = got.text ?? "";
    title.textContent = cut(got.name, 100);
    const piece = got.piece && got.piece.kind !== "line" ? ` · ${got.piece.words}` : "";
    facts.textContent = `${cut(got.dtype, 200)} · row ${count(got.position)}${piece || sizeOf(got)}${got.note ? ` · ${got.note}` : ""}`;
    fill(picture, ...pictured(got));
    if (got.earlier)
      fill(text, node("del", {}, ...shown(got.earlier, got)), "\n→\n", node("ins", {}, ...shown(got, got)));
    else fill(text, ...shown(got, got));
    element.hidden = false;
  }
  return { element, open, close, isOpen: () => !element.hidden };
}

function sizeOf({ size, shown, unit }: WholeValue) {
  if (size === null) return "";
  return shown < size ? ` · ${count(shown)} of ${count(size)} ${unit}` : ` · ${count(size)} ${unit}`;
}

function shown({ text }: WholeValue, { kind }: CellDetail): Child[] {
  if (text === null) return [node("span", { class: "lx-null" }, "null")];
  const lines = kind === "nested" ? unfolded(text) : text;
  return [lines.split("\n").map(visible).join("\n")];
}

function pictured({ piece }: CellDetail): Child[] {
  if (!piece) return [];
  if (piece.kind === "line")
    return [lineOf(piece.points, "lx-long-line"), node("p", { class: "lx-quiet" }, visible(piece.words))];
  if (piece.data === null) return [node("p", { class: "lx-quiet" }, "It is too large to be shown here.")];
  if (piece.kind === "image") return [pictureOf(piece.data, piece.words, "lx-detail-image")];
  return [node("audio", { controls: true, src: piece.data, "aria-label": piece.words })];
}
