// Totals by kind, and what manifests were spent on over versions.

import { themeColor } from "./canvas";
import { factCard } from "./cards";
import { fill, node } from "./elements";
import type { History } from "./history";
import { legendEntry } from "./legend";
import type { FilesStory, FileTotals } from "./messages";
import { bytes, count, plural } from "./text";
import { byteTicks } from "./ticks";
import type { VersionScale } from "./version_axis";
import { marginLabel, STRIP } from "./version_axis";
import { versionPicture } from "./version_picture";

/** The bytes of each part of the manifests, over versions. */
export type ManifestParts = { [part: `part_${string}`]: Float64Array };

export type ManifestHistory = History & FilesStory & ManifestParts;

const MANIFESTS = { height: 150, top: 8 };

/** One card for each kind of file of a version. */
export function totalCards(totals: FileTotals[]) {
  return totals.map(({ kind, num_files: files, size_bytes: size, num_unknown: unknown }) => {
    const isUnknown = Number(files) > 0 && unknown === Number(files);
    return factCard(
      kind,
      isUnknown ? "unknown size" : bytes(size),
      kind === "manifest" ? "one file" : plural(files, kind === "index segments" ? "segment" : "file"),
      unknown && !isUnknown ? `${count(unknown)} of unknown size` : null,
    );
  });
}

/** The bytes of manifests by part, over versions, as areas on top of each other. */
export function manifestsPicture(
  root: HTMLElement,
  { onMove, describeVersion }: { onMove: (position: number) => void; describeVersion: (position: number) => Node },
) {
  let history!: ManifestHistory;
  let most = 0;
  const legend = node("div", { class: "lx-legend" });
  const picture = versionPicture(root, {
    label: "Bytes of manifests over versions",
    height: () => MANIFESTS.height + STRIP.axis,
    draw,
    describe: (position) => [describeVersion(position), ...describeParts(position)],
    words: (position) => (position < 0 ? "" : `version ${history.versions[position]}, ${bytes(sizeAt(position))}`),
    onMove,
  });

  const sizeAt = (position: number) =>
    history.parts.reduce((sum, { name }) => sum + history[`part_${name}`][position], 0);

  function describeParts(position: number) {
    const lines = history.parts
      .map(({ name, color }) => [name, color, history[`part_${name}`][position]] as const)
      .filter(([, , size]) => size > 0);
    return [
      node("div", {}, node("strong", {}, bytes(sizeAt(position))), " in all"),
      ...lines
        .sort(([, , a], [, , b]) => b - a)
        .map(([name, color, size]) =>
          node(
            "div",
            { class: "lx-legend-entry" },
            node("i", { class: "lx-swatch", style: { background: color } }),
            `${name}: ${bytes(size)}`,
          ),
        ),
    ];
  }

  function draw(context: CanvasRenderingContext2D, scale: VersionScale, width: number) {
    const base = MANIFESTS.height - 2;
    const y = (value: number) => base - (value / (most || 1)) * (base - MANIFESTS.top);
    const element = context.canvas;
    for (const value of byteTicks(most)) {
      context.strokeStyle = themeColor(element, "line");
      context.lineWidth = 1;
      const at = Math.round(y(value)) + 0.5;
      context.beginPath();
      context.moveTo(0, at);
      context.lineTo(width, at);
      context.stroke();
      marginLabel(context, value ? bytes(value) : "0", at, themeColor(element, "quiet"));
    }
    const floor = new Float64Array(history.count);
    for (const { name, color } of history.parts) {
      const values = history[`part_${name}`];
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
    setHistory(newest: ManifestHistory) {
      history = { ...newest, tags: [] };
      most = 0;
      for (let p = 0; p < history.count; p += 1) most = Math.max(most, sizeAt(p));
      const there = history.parts.filter(({ name }) => history[`part_${name}`].some((size) => size > 0));
      fill(
        legend,
        ...there.map(({ name, color }) =>
          legendEntry(node("i", { class: "lx-swatch", style: { background: color } }), name),
        ),
      );
      picture.setHistory(history);
    },
    show: picture.show,
    close: picture.close,
  };
}
