import "./history_strip.css";
import type { ComponentChildren } from "preact";
import { canvas, onTheme, themeColor } from "./canvas";
import { node, setAttributes } from "./elements";
import type { History } from "./history";
import { isCommand, sliderTargets } from "./keys";
import { visible } from "./text";
import { tooltip } from "./tooltip";
import type { VersionScale } from "./version_axis";
import { drawCommits, drawGaps, drawRows, drawTags, drawVersionCursor, STRIP, stripScale } from "./version_axis";

interface Strip {
  onMove: (position: number) => void;
  describe: (position: number) => ComponentChildren;
  /** How tall the rows are drawn, in px. */
  chart?: number;
}

/**
 * The strip: `element`, `setHistory(history)`, `show(position)`, `close()`. `onMove(position)` is
 * called when the user moves the slider, `describe(position)` gives what the tooltip says.
 */
export function historyStrip(root: HTMLElement, { onMove, describe, chart = STRIP.chart }: Strip) {
  let history!: History;
  let position = 0;
  let scale!: VersionScale;
  const height = () => (history?.tags.length ? STRIP.tags : 6) + chart + STRIP.commits + STRIP.axis;
  const picture = canvas(100, drawPicture);
  const cursor = canvas(100, drawCursor);
  const tip = tooltip(root);
  const element = node(
    "div",
    { class: "lx-strip", role: "slider", tabindex: "0", "aria-label": "Version", "aria-orientation": "horizontal" },
    picture.element,
    cursor.element,
  );

  function drawPicture(context: CanvasRenderingContext2D, width: number) {
    if (!history?.count) return;
    scale = stripScale(history, width);
    const top = history.tags.length ? STRIP.tags : 6;
    drawRows(context, history, scale, top, chart);
    drawCommits(context, history, scale, top + chart);
    drawGaps(context, history, scale, top, chart + STRIP.commits);
    drawTags(context, history, scale, width, chart);
    cursor.redraw();
  }

  function drawCursor(context: CanvasRenderingContext2D, width: number, tall: number) {
    if (!scale || !history?.count) return;
    drawVersionCursor(context, history, scale, position, tall, width);
    const [x, bottom] = [scale.center(position), tall - STRIP.axis];
    context.fillStyle = themeColor(element, "accent");
    context.beginPath();
    context.moveTo(x - 5, bottom + 1);
    context.lineTo(x, bottom - 4);
    context.lineTo(x + 5, bottom + 1);
    context.fill();
    element.dataset.drawn = String(history.versions[position]);
  }

  function moveTo(target: number) {
    const bounded = Math.min(Math.max(target, 0), history.count - 1);
    if (bounded !== position) onMove(bounded);
  }

  function onKey(event: KeyboardEvent) {
    if (!history?.count || isCommand(event)) return;
    const targets = sliderTargets(position, 0, history.count);
    if (!(event.key in targets)) return;
    event.preventDefault();
    event.stopPropagation();
    moveTo(targets[event.key]);
  }

  const place = (event: PointerEvent) => scale.positionAt(event.clientX - element.getBoundingClientRect().left);
  element.addEventListener("keydown", onKey);
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !scale || !history?.count) return;
    element.setPointerCapture(event.pointerId);
    element.focus();
    tip.hide();
    moveTo(place(event));
  });
  element.addEventListener("pointermove", (event) => {
    if (!scale || !history?.count) return;
    if (element.hasPointerCapture(event.pointerId)) moveTo(place(event));
    else tip.show(event, describe(place(event)));
  });
  element.addEventListener("pointerleave", () => tip.hide());
  const stopTheme = onTheme(() => picture.redraw());

  return {
    element,
    setHistory(newest: History) {
      history = newest;
      for (const layer of [picture, cursor]) layer.element.style.height = `${height()}px`;
      element.style.height = `${height()}px`;
      setAttributes(element, { "aria-valuemin": 0, "aria-valuemax": Math.max(0, history.count - 1) });
      picture.redraw();
    },
    show(newest: number) {
      position = newest;
      const version = history.versions[position];
      setAttributes(element, {
        "aria-valuenow": position,
        "aria-valuetext": `version ${version}, ${visible(history.operationAt(position))}`,
      });
      cursor.redraw();
    },
    close() {
      stopTheme();
      picture.close();
      cursor.close();
    },
  };
}
