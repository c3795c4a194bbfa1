import "./history_strip.css";
import { canvas, canvasFont, onTheme, themeColor } from "./canvas";
import type { Child } from "./elements";
import { node, setAttributes } from "./elements";
import type { History } from "./history";
import { isCommand } from "./keys";
import { count, visible } from "./text";
import { tooltip } from "./tooltip";
import type { VersionScale } from "./version_axis";
import { drawCommits, drawEnds, drawGaps, drawRows, drawTags, STRIP, stripScale } from "./version_axis";

interface Strip {
  onMove: (position: number) => void;
  describe: (position: number) => Child[];
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
    const x = scale.center(position);
    const bottom = tall - STRIP.axis;
    const accent = themeColor(element, "accent");
    context.fillStyle = accent;
    context.fillRect(x - 1, history.tags.length ? STRIP.tags - 4 : 0, 2, bottom);
    const label = count(history.versions[position]);
    context.font = canvasFont(element, 600);
    const half = context.measureText(label).width / 2 + 7;
    const at = Math.min(Math.max(x, half), width - half);
    drawEnds(context, history, scale, width, tall - 5, [[at - half, at + half]]);
    context.fillStyle = accent;
    context.beginPath();
    context.moveTo(x - 5, bottom + 1);
    context.lineTo(x, bottom - 4);
    context.lineTo(x + 5, bottom + 1);
    context.fill();
    context.beginPath();
    context.roundRect(at - half, bottom, 2 * half, STRIP.axis - 1, 4);
    context.fill();
    context.font = canvasFont(element, 600);
    context.fillStyle = themeColor(element, "paper");
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(label, at, bottom + STRIP.axis / 2);
    element.dataset.drawn = String(history.versions[position]);
  }

  function moveTo(target: number) {
    const bounded = Math.min(Math.max(target, 0), history.count - 1);
    if (bounded !== position) onMove(bounded);
  }

  function onKey(event: KeyboardEvent) {
    if (!history?.count || isCommand(event)) return;
    const page = Math.max(2, Math.round(history.count / 20));
    const targets: Record<string, number> = {
      ArrowLeft: position - 1,
      ArrowDown: position - 1,
      ArrowRight: position + 1,
      ArrowUp: position + 1,
      PageDown: position - page,
      PageUp: position + page,
      Home: 0,
      End: history.count - 1,
    };
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
    else tip.show(event, ...describe(place(event)));
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
