import "./version_picture.css";
import type { ComponentChildren } from "preact";
import { canvas, onTheme, themeColor } from "./canvas";
import { node, setAttributes } from "./elements";
import type { History } from "./history";
import { isCommand, sliderTargets, stepOf } from "./keys";
import { tooltip } from "./tooltip";
import type { VersionScale } from "./version_axis";
import { drawVersionCursor, MARGIN, marginLabel, STRIP, stripScale } from "./version_axis";

/** What a picture over versions is made of; a row of it is chosen by its ID. */
export interface GivenPicture {
  label: string;
  height: () => number;
  draw: (context: CanvasRenderingContext2D, scale: VersionScale, width: number) => void;
  drawMark?: (context: CanvasRenderingContext2D, scale: VersionScale, width: number, row: string | null) => void;
  rowAt?: (y: number, position: number) => string | null;
  nextRow?: (row: string | null, step: number, position: number) => string | undefined;
  describe: (position: number, row: string | null) => ComponentChildren;
  words: (position: number, row: string | null) => string;
  onMove: (position: number, row?: string | null) => void;
}

/**
 * The picture: `element`, `setHistory(history)`, `show(position, row)`, `redraw()`, `close()`.
 *
 *   label                     what it is called for those who do not see it
 *   height()                  how tall it is, in px
 *   draw(context, scale, width)   draws it, moved beside the margin
 *   drawMark(context, scale, width, row)  marks the chosen row, in the same place
 *   rowAt(y, position)        the row at a height, null for none
 *   nextRow(row, step, position)  the row that an arrow key leads to
 *   describe(position, row)   what the tooltip says
 *   words(position, row)      the same in short, for those who do not see it
 *   onMove(position, row)     called when the user chooses; row is undefined where it stays
 */
export function versionPicture(root: HTMLElement, given: GivenPicture) {
  let history!: History;
  let scale: VersionScale | null = null;
  let position = -1;
  let row: string | null = null;
  const picture = canvas(10, drawPicture);
  const cursor = canvas(10, drawCursor);
  const tip = tooltip(root);
  const element = node(
    "div",
    { class: "lx-version-picture", role: "application", tabindex: "0", "aria-roledescription": "chart over versions" },
    picture.element,
    cursor.element,
  );

  function drawPicture(context: CanvasRenderingContext2D, width: number) {
    if (!history?.count) return;
    scale = stripScale(history, width - MARGIN);
    context.translate(MARGIN, 0);
    given.draw(context, scale, width - MARGIN);
    cursor.redraw();
  }

  function drawCursor(context: CanvasRenderingContext2D, width: number, tall: number) {
    if (!scale || position < 0) return;
    context.translate(MARGIN, 0);
    marginLabel(context, "version", tall - STRIP.axis / 2, themeColor(element, "quiet"));
    given.drawMark?.(context, scale, width - MARGIN, row);
    drawVersionCursor(context, history, scale, position, tall, width - MARGIN);
    element.dataset.drawn = `${history.versions[position]} ${row ?? ""}`;
  }

  function moveTo(target: number, newRow?: string | null) {
    const bounded = Math.min(Math.max(target, 0), history.count - 1);
    if (bounded !== position || (newRow !== undefined && newRow !== row)) given.onMove(bounded, newRow);
  }

  function onKey(event: KeyboardEvent) {
    if (!history?.count || isCommand(event)) return;
    const now = Math.max(position, 0);
    const targets = sliderTargets(now, 0, history.count);
    const step = stepOf(event.key, { ArrowUp: -1, ArrowDown: 1 });
    if (step && given.nextRow) moveTo(now, given.nextRow(row, step, now));
    else if (!step && event.key in targets) moveTo(targets[event.key]);
    else if (event.key === "Escape" && row !== null) moveTo(now, null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function placeOf(event: PointerEvent): [number, string | null] {
    const box = element.getBoundingClientRect();
    const at = (scale as VersionScale).positionAt(event.clientX - box.left - MARGIN);
    return [at, given.rowAt?.(event.clientY - box.top, at) ?? null];
  }

  element.addEventListener("keydown", onKey);
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !scale || !history?.count) return;
    element.setPointerCapture(event.pointerId);
    element.focus({ preventScroll: true });
    tip.hide();
    const [at, there] = placeOf(event);
    moveTo(at, there ?? undefined);
  });
  element.addEventListener("pointermove", (event) => {
    if (!scale || !history?.count) return;
    const [at, there] = placeOf(event);
    if (element.hasPointerCapture(event.pointerId)) moveTo(at);
    else tip.show(event, given.describe(at, there));
  });
  element.addEventListener("pointerleave", () => tip.hide());
  const stopTheme = onTheme(() => picture.redraw());

  function resize() {
    const tall = `${given.height()}px`;
    for (const sized of [element, picture.element, cursor.element]) sized.style.height = tall;
    picture.redraw();
  }

  return {
    element,
    setHistory(newest: History) {
      history = newest;
      scale = null;
      resize();
    },
    redraw: resize,
    show(newest: number, newRow: string | null) {
      [position, row] = [newest, newRow];
      setAttributes(element, { "aria-label": `${given.label}: ${given.words(position, row)}` });
      cursor.redraw();
    },
    close() {
      stopTheme();
      picture.close();
      cursor.close();
    },
  };
}
