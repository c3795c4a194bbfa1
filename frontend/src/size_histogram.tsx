// How many files, or fragments, there are of each size.

import { canvas, canvasFont, onTheme, themeColor } from "./canvas";
import { node } from "./elements";
import { stepOf } from "./keys";
import { DATA_COLOR, WARNING_COLOR } from "./kinds";
import type { SizeBin, SizeBins } from "./messages";
import { tooltip } from "./tooltip";

interface Histogram {
  label: string;
  onChoose?: ((bin: SizeBin) => void) | null;
}

const HISTOGRAM = { height: 150, left: 46, right: 30, bottom: 20, top: 8, words: 16 };

export const SMALL_COLOR = WARNING_COLOR;

export const LARGE_COLOR = DATA_COLOR;

/**
 * How many things there are of each size, small ones apart, as Python laid them out: `element`, `show(bins)`,
 * `close()`. `onChoose(bin)` is called with the bin that is clicked, where it is given.
 */
export function sizeHistogram(root: HTMLElement, { label, onChoose = null }: Histogram) {
  let shown: SizeBins = { bins: [], edges: [], ticks: [], aim: null, beyond: "", note: "" };
  let active = -1;
  const picture = canvas(HISTOGRAM.height, draw);
  const tip = tooltip(root);
  const note = node("div", { class: "lx-quiet lx-picture-note" });
  const chart = node(
    "div",
    { class: "lx-picture", role: onChoose ? "listbox" : "img", tabindex: onChoose ? "0" : null, "aria-label": label },
    picture.element,
  );
  const element = node("figure", { class: "lx-figure" }, node("figcaption", { class: "lx-quiet" }, label), chart, note);

  const top = () => HISTOGRAM.top + (shown.beyond ? HISTOGRAM.words : 0);
  const place = (width: number) => ({
    left: HISTOGRAM.left,
    unit: (width - HISTOGRAM.left - HISTOGRAM.right) / Math.max(1, shown.bins.length),
  });

  function draw(context: CanvasRenderingContext2D, width: number, tall: number) {
    const { bins, ticks } = shown;
    if (!bins.length) return;
    const { left, unit } = place(width);
    const base = tall - HISTOGRAM.bottom;
    const most = Math.max(...bins.map(({ total }) => total));
    const y = (value: number) => base - (value / most) * (base - top());
    context.font = canvasFont(chart);
    countAxis(context, chart, ticks, y, left, width);
    bins.forEach(({ total, small }, i) => {
      const [x, wide] = [left + i * unit + 1, Math.max(1, unit - 2)];
      if (i === active) {
        context.fillStyle = themeColor(chart, "hover");
        context.fillRect(x - 1, top(), wide + 2, base - top());
      }
      context.fillStyle = LARGE_COLOR;
      context.fillRect(x, y(total), wide, y(small) - y(total));
      context.fillStyle = SMALL_COLOR;
      context.fillRect(x, y(small), wide, base - y(small));
    });
    drawAim(context, left, unit, base);
    drawEdges(context, left, unit, base);
  }

  function drawAim(context: CanvasRenderingContext2D, left: number, unit: number, base: number) {
    if (shown.beyond) {
      context.fillStyle = themeColor(chart, "quiet");
      context.textAlign = "right";
      context.textBaseline = "top";
      context.fillText(shown.beyond, left + shown.bins.length * unit, 2);
    }
    if (shown.aim === null) return;
    const x = left + shown.aim * unit;
    context.strokeStyle = themeColor(chart, "ink");
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(x, HISTOGRAM.top);
    context.lineTo(x, base);
    context.stroke();
    context.setLineDash([]);
  }

  function drawEdges(context: CanvasRenderingContext2D, left: number, unit: number, base: number) {
    context.fillStyle = themeColor(chart, "quiet");
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    const widest = Math.max(...shown.edges.map((edge) => context.measureText(edge).width)) + 12;
    const step = Math.max(1, Math.ceil(widest / unit));
    for (let i = 0; i < shown.edges.length; i += step) context.fillText(shown.edges[i], left + i * unit, base + 14);
  }

  function at(event: MouseEvent) {
    const box = chart.getBoundingClientRect();
    const { left, unit } = place(box.width);
    const i = Math.floor((event.clientX - box.left - left) / unit);
    return i >= 0 && i < shown.bins.length ? i : -1;
  }

  function point(i: number) {
    if (i !== active) {
      active = i;
      picture.redraw();
    }
    chart.setAttribute("aria-valuetext", i < 0 ? "" : shown.bins[i].words);
  }

  chart.addEventListener("pointermove", (event) => {
    const i = at(event);
    point(i);
    if (i < 0) tip.hide();
    else
      tip.show(
        event,
        <div>{shown.bins[i].words}</div>,
        onChoose && shown.bins[i].total ? <div class="lx-quiet">Click to see only these in the table</div> : "",
      );
  });
  chart.addEventListener("pointerleave", () => {
    tip.hide();
    point(-1);
  });
  if (onChoose) {
    chart.addEventListener("click", (event) => at(event) >= 0 && onChoose(shown.bins[at(event)]));
    chart.addEventListener("keydown", (event) => {
      const step = stepOf(event.key, { ArrowLeft: -1, ArrowRight: 1 });
      if (step) point(Math.min(Math.max(active + step, 0), shown.bins.length - 1));
      else if (event.key === "Enter" && active >= 0) onChoose(shown.bins[active]);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
  const stopTheme = onTheme(picture.redraw);
  return {
    element,
    show(newest: SizeBins) {
      shown = newest;
      active = -1;
      chart.hidden = !shown.bins.length;
      note.textContent = shown.note;
      chart.dataset.bins = JSON.stringify(shown.bins.map(({ begin, total, small }) => [begin, total, small]));
      picture.redraw();
    },
    close() {
      stopTheme();
      picture.close();
    },
  };
}

/** Lines at round counts, with their labels on the left. */
function countAxis(
  context: CanvasRenderingContext2D,
  element: Element,
  ticks: SizeBins["ticks"],
  y: (value: number) => number,
  left: number,
  width: number,
) {
  context.strokeStyle = themeColor(element, "line");
  context.fillStyle = themeColor(element, "quiet");
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.lineWidth = 1;
  for (const [value, text] of ticks) {
    const at = Math.round(y(value)) + 0.5;
    context.beginPath();
    context.moveTo(left, at);
    context.lineTo(width, at);
    context.stroke();
    context.fillText(text, left - 6, at);
  }
}
