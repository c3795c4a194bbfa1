// Bytes over versions, in parts: areas on top of each other.

import { themeColor } from "./canvas";
import { fill, node } from "./elements";
import type { History } from "./history";
import { legendEntry, swatch } from "./legend";
import { bytes, count } from "./text";
import { roundTicks } from "./ticks";
import type { VersionScale } from "./version_axis";
import { marginLabel, STRIP } from "./version_axis";
import { versionPicture } from "./version_picture";

/** One of the areas: a value for each version. */
export interface BytePart {
  name: string;
  color: string;
  values: Float64Array;
}

interface Given {
  label: string;
  /** Of the areas, in px. */
  height: number;
  onMove: (position: number) => void;
  describeVersion: (position: number) => Node;
}

const TOP = 8; // px

/** The picture with its legend: `element`, `setHistory(history, parts)`, `show(position, null)`, `close()`. */
export function byteAreas(root: HTMLElement, { label, height, onMove, describeVersion }: Given) {
  let history!: History;
  let parts: BytePart[] = [];
  let most = 0;
  const legend = node("div", { class: "lx-legend" });
  const picture = versionPicture(root, {
    label,
    height: () => height + STRIP.axis,
    draw,
    describe: (position) => [describeVersion(position), ...describeParts(position)],
    words: (position) =>
      position < 0 ? "no version" : `version ${count(history.versions[position])}, ${bytes(sizeAt(position))}`,
    onMove,
  });

  const sizeAt = (position: number) => parts.reduce((sum, { values }) => sum + values[position], 0);

  function describeParts(position: number) {
    return [
      node("div", {}, node("strong", {}, bytes(sizeAt(position))), " in all"),
      ...parts
        .map(({ name, color, values }) => ({ name, color, size: values[position] }))
        .filter(({ size }) => size > 0)
        .sort((a, b) => b.size - a.size)
        .map(({ name, color, size }) =>
          node("div", { class: "lx-legend-entry" }, swatch(color), `${name}: ${bytes(size)}`),
        ),
    ];
  }

  function draw(context: CanvasRenderingContext2D, scale: VersionScale, width: number) {
    const base = height - 2;
    const y = (value: number) => base - (value / (most || 1)) * (base - TOP);
    const element = context.canvas;
    for (const value of roundTicks(most)) {
      context.strokeStyle = themeColor(element, "line");
      context.lineWidth = 1;
      const at = Math.round(y(value)) + 0.5;
      context.beginPath();
      context.moveTo(0, at);
      context.lineTo(width, at);
      context.stroke();
      marginLabel(context, value ? bytes(value).replace(".0 ", " ") : "0", at, themeColor(element, "quiet"));
    }
    const floor = new Float64Array(history.count);
    for (const { color, values } of parts) {
      const below = floor.slice();
      context.fillStyle = color;
      context.beginPath();
      for (let p = 0; p < history.count; p += 1) {
        floor[p] += values[p];
        context.lineTo(scale.left[p], y(floor[p]));
        context.lineTo(scale.left[p] + scale.unit, y(floor[p]));
      }
      for (let p = history.count - 1; p >= 0; p -= 1) {
        context.lineTo(scale.left[p] + scale.unit, y(below[p]));
        context.lineTo(scale.left[p], y(below[p]));
      }
      context.fill();
    }
    context.fillStyle = themeColor(element, "paper");
    context.globalAlpha = 1 - STRIP.pale;
    for (let p = 0; p < history.count; p += 1)
      if (history.is_recorded[p]) context.fillRect(scale.left[p], 0, scale.unit, base);
    context.globalAlpha = 1;
    for (let p = 0; p < history.count; p += 1)
      if (history.gapBefore[p] && scale.gap >= 1) context.fillRect(scale.left[p] - scale.gap, 0, scale.gap, base);
  }

  return {
    element: node("div", {}, picture.element, legend),
    setHistory(newest: History, newParts: BytePart[]) {
      history = newest;
      parts = newParts.filter(({ values }) => values.some((size) => size > 0));
      most = 0;
      for (let p = 0; p < history.count; p += 1) most = Math.max(most, sizeAt(p));
      fill(legend, ...parts.map(({ name, color }) => legendEntry(swatch(color), name)));
      picture.setHistory(history);
    },
    show: picture.show,
    close: picture.close,
  };
}
