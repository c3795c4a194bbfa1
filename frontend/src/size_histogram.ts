// How many files, or fragments, there are of each size.

import { canvas, canvasFont, onTheme, themeColor } from "./canvas";
import { node } from "./elements";
import { stepOf } from "./keys";
import { KIND_COLORS } from "./kinds";
import { count, plural } from "./text";
import { niceTicks } from "./ticks";
import { tooltip } from "./tooltip";

interface Histogram {
  label: string;
  noun: string;
  /** Says an edge. */
  format: (value: number) => string;
  onChoose?: ((bin: SizeBin) => void) | null;
}

export interface SizeBin {
  begin: number;
  end: number;
  total: number;
  small: number;
}

const HISTOGRAM = { height: 150, left: 46, right: 30, bottom: 20, top: 8, words: 16 };

export const SMALL_COLOR = KIND_COLORS.update;

export const LARGE_COLOR = KIND_COLORS.append;

/** Edges of 1, 2 and 5 times a power of ten around some values. */
function sizeEdges(values: number[]) {
  const known = values.filter((value) => value >= 0);
  if (!known.length) return [];
  const [least, most] = known.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, 0],
  );
  const all = [0];
  for (let power = 1; power <= 1e18; power *= 10) all.push(power, 2 * power, 5 * power);
  const first = Math.max(0, all.findLastIndex((edge) => edge <= least) - 1);
  const last = Math.min(all.length - 1, all.findIndex((edge) => edge > most) + 1);
  return all.slice(first, last + 1);
}

/** Put values into bins: how many there are, and how many of these are small. */
function binned(values: number[], isSmall: (index: number) => boolean) {
  const edges = sizeEdges(values);
  const bins = edges.slice(1).map((end, i) => ({ begin: edges[i], end, total: 0, small: 0 }));
  values.forEach((value, i) => {
    if (!(value >= 0)) return;
    let at = bins.length - 1;
    while (at > 0 && bins[at].begin > value) at -= 1;
    bins[at].total += 1;
    if (isSmall(i)) bins[at].small += 1;
  });
  return bins;
}

/**
 * How many things there are of each size, small ones apart: `element`, `setValues(...)`, `close()`.
 * `format` says an edge; `onChoose(bin)` is called with the bin that is clicked, where it is given.
 */
export function sizeHistogram(root: HTMLElement, { label, noun, format, onChoose = null }: Histogram) {
  let bins: SizeBin[] = [];
  let active = -1;
  let target: number | null = null;
  let missing = 0;
  const picture = canvas(HISTOGRAM.height, draw);
  const tip = tooltip(root);
  const note = node("div", { class: "lx-quiet lx-picture-note" });
  const chart = node(
    "div",
    { class: "lx-picture", role: onChoose ? "listbox" : "img", tabindex: onChoose ? "0" : null, "aria-label": label },
    picture.element,
  );
  const element = node("figure", { class: "lx-figure" }, node("figcaption", { class: "lx-quiet" }, label), chart, note);

  const isBeyond = () => target !== null && bins.length > 0 && target >= bins[bins.length - 1].end;
  const top = () => HISTOGRAM.top + (isBeyond() ? HISTOGRAM.words : 0);
  const place = (width: number) => ({
    left: HISTOGRAM.left,
    unit: (width - HISTOGRAM.left - HISTOGRAM.right) / Math.max(1, bins.length),
  });

  function draw(context: CanvasRenderingContext2D, width: number, tall: number) {
    if (!bins.length) return;
    const { left, unit } = place(width);
    const base = tall - HISTOGRAM.bottom;
    const most = Math.max(...bins.map(({ total }) => total));
    const y = (value: number) => base - (value / most) * (base - top());
    context.font = canvasFont(chart);
    countAxis(context, chart, most, y, left, width);
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
    drawTarget(context, left, unit, base);
    drawEdges(context, left, unit, base);
  }

  function drawTarget(context: CanvasRenderingContext2D, left: number, unit: number, base: number) {
    if (target === null) return;
    if (isBeyond()) arrowToTarget(context, left + bins.length * unit);
    const aim = target;
    const at = bins.findIndex(({ begin, end }) => begin <= aim && aim < end);
    if (at < 0) return;
    const { begin, end } = bins[at];
    const x = left + (at + (target - begin) / (end - begin)) * unit;
    context.strokeStyle = themeColor(chart, "ink");
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(x, HISTOGRAM.top);
    context.lineTo(x, base);
    context.stroke();
    context.setLineDash([]);
  }

  function arrowToTarget(context: CanvasRenderingContext2D, right: number) {
    context.fillStyle = themeColor(chart, "quiet");
    context.textAlign = "right";
    context.textBaseline = "top";
    context.fillText(`the aim is ${format(target ?? 0)} →`, right, 2);
  }

  function drawEdges(context: CanvasRenderingContext2D, left: number, unit: number, base: number) {
    context.fillStyle = themeColor(chart, "quiet");
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    const widest = Math.max(...bins.map(({ begin }) => context.measureText(format(begin)).width)) + 12;
    const step = Math.max(1, Math.ceil(widest / unit));
    for (let i = 0; i <= bins.length; i += step) {
      const text = format(i < bins.length ? bins[i].begin : bins[bins.length - 1].end);
      context.fillText(text, left + i * unit, base + 14);
    }
  }

  function at(event: MouseEvent) {
    const box = chart.getBoundingClientRect();
    const { left, unit } = place(box.width);
    const i = Math.floor((event.clientX - box.left - left) / unit);
    return i >= 0 && i < bins.length ? i : -1;
  }

  function point(i: number) {
    if (i !== active) {
      active = i;
      picture.redraw();
    }
    chart.setAttribute("aria-valuetext", i < 0 ? "" : words(bins[i]));
  }

  function words({ begin, end, total, small }: SizeBin) {
    return `${plural(total, noun)} of ${format(begin)} to ${format(end)}${target === null ? "" : `, ${count(small)} small`}`;
  }

  chart.addEventListener("pointermove", (event) => {
    const i = at(event);
    point(i);
    if (i < 0) tip.hide();
    else
      tip.show(
        event,
        node("div", {}, words(bins[i])),
        onChoose && bins[i].total ? node("div", { class: "lx-quiet" }, "Click to see only these in the table") : "",
      );
  });
  chart.addEventListener("pointerleave", () => {
    tip.hide();
    point(-1);
  });
  if (onChoose) {
    chart.addEventListener("click", (event) => at(event) >= 0 && onChoose(bins[at(event)]));
    chart.addEventListener("keydown", (event) => {
      const step = stepOf(event.key, { ArrowLeft: -1, ArrowRight: 1 });
      if (step) point(Math.min(Math.max(active + step, 0), bins.length - 1));
      else if (event.key === "Enter" && active >= 0) onChoose(bins[active]);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
  const stopTheme = onTheme(picture.redraw);
  return {
    element,
    setValues(values: number[], isSmall: (index: number) => boolean, newTarget: number | null = null) {
      bins = binned(values, isSmall);
      target = newTarget;
      missing = values.filter((value) => Number.isNaN(value)).length;
      chart.hidden = !bins.length;
      const unknown = missing ? `${plural(missing, noun)} of unknown size` : "";
      note.textContent = bins.length ? unknown : unknown || `no ${noun}s`;
      chart.dataset.bins = JSON.stringify(bins.map(({ begin, total, small }) => [begin, total, small]));
      picture.redraw();
    },
    close() {
      stopTheme();
      picture.close();
    },
  };
}

/** Lines at nice counts, with their labels on the left. */
function countAxis(
  context: CanvasRenderingContext2D,
  element: Element,
  most: number,
  y: (value: number) => number,
  left: number,
  width: number,
) {
  context.strokeStyle = themeColor(element, "line");
  context.fillStyle = themeColor(element, "quiet");
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.lineWidth = 1;
  for (const value of niceTicks(most)) {
    const at = Math.round(y(value)) + 0.5;
    context.beginPath();
    context.moveTo(left, at);
    context.lineTo(width, at);
    context.stroke();
    context.fillText(count(value), left - 6, at);
  }
}
