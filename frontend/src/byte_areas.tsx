// Bytes over versions, in parts: areas on top of each other.

import { ticks } from "d3-array";
import { render, type VNode } from "preact";
import { themeColor } from "./canvas";
import { node } from "./elements";
import type { History } from "./history";
import { legendEntry, swatch } from "./legend";
import { bytes, count } from "./text";
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
  describeVersion: (position: number) => VNode;
}

const TOP = 8; // px

const TICKS = 3; // or about as many round numbers

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
      <div>
        <strong>{bytes(sizeAt(position))}</strong>
        {" in all"}
      </div>,
      ...parts
        .map(({ name, color, values }) => ({ name, color, size: values[position] }))
        .filter(({ size }) => size > 0)
        .sort((a, b) => b.size - a.size)
        .map(({ name, color, size }) => (
          <div class="lx-legend-entry">
            {swatch(color)}
            {`${name}: ${bytes(size)}`}
          </div>
        )),
    ];
  }

  /** What is drawn: each version, or of those within one pixel the one with most bytes. */
  function columnsOf({ left: lefts, unit }: VersionScale) {
    const columns: { position: number; left: number; right: number }[] = [];
    for (let p = 0; p < history.count; p += 1) {
      const [left, right, last] = [lefts[p], lefts[p] + unit, columns.at(-1)];
      if (last && Math.floor(left) === Math.floor(last.left)) {
        last.right = right;
        if (sizeAt(p) > sizeAt(last.position)) last.position = p;
      } else columns.push({ position: p, left, right });
    }
    return columns;
  }

  function draw(context: CanvasRenderingContext2D, scale: VersionScale, width: number) {
    const base = height - 2;
    const y = (value: number) => base - (value / (most || 1)) * (base - TOP);
    const element = context.canvas;
    for (const value of ticks(0, most, TICKS)) {
      context.strokeStyle = themeColor(element, "line");
      context.lineWidth = 1;
      const at = Math.round(y(value)) + 0.5;
      context.beginPath();
      context.moveTo(0, at);
      context.lineTo(width, at);
      context.stroke();
      marginLabel(context, value ? bytes(value).replace(".0 ", " ") : "0", at, themeColor(element, "quiet"));
    }
    const columns = columnsOf(scale);
    const floor = new Float64Array(columns.length);
    for (const { color, values } of parts) {
      const below = floor.slice();
      context.fillStyle = color;
      context.beginPath();
      for (const [i, { position, left, right }] of columns.entries()) {
        floor[i] += values[position];
        context.lineTo(left, y(floor[i]));
        context.lineTo(right, y(floor[i]));
      }
      for (let i = columns.length - 1; i >= 0; i -= 1) {
        context.lineTo(columns[i].right, y(below[i]));
        context.lineTo(columns[i].left, y(below[i]));
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
      render(
        parts.map(({ name, color }) => legendEntry(swatch(color), name)),
        legend,
      );
      picture.setHistory(history);
    },
    show: picture.show,
    close: picture.close,
  };
}
