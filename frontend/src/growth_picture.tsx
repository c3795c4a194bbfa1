// What the row IDs of a table cost in all versions, and since when the rows of one version are there.

import type { ComponentChildren } from "preact";
import type { Look } from "./canvas";
import { canvasFont, lookOf } from "./canvas";
import type { History } from "./history";
import { kindColor } from "./legend";
import type { Ages, EncodingsData, Growth } from "./messages";
import { bytes, count, perRow, plural } from "./text";
import type { VersionScale } from "./version_axis";
import { drawCommits, drawGaps, drawTags, marginLabel, STRIP, stepPath, versionsPerBar } from "./version_axis";
import { versionPicture } from "./version_picture";

const AGE = { tall: 34, apart: 8 }; // px

const AGE_NAMES: [keyof Ages, string][] = [
  ["age_created_at", "created"],
  ["age_last_updated_at", "updated"],
];

/** The picture: as a versionPicture, and `setGrowth(growth)`, `setAges(ages)`. */
export function growthPicture(
  root: HTMLElement,
  {
    onMove,
    describeVersion,
  }: { onMove: (position: number) => void; describeVersion: (position: number) => ComponentChildren },
) {
  let history!: History & EncodingsData;
  let growth: Growth | null = null;
  let ages: Ages | null = null;
  let isFailed = false;
  const top = () => (history?.tags.length ? STRIP.tags : 8);
  const agesTop = () => top() + STRIP.chart + STRIP.commits + 2;
  const height = () => agesTop() + AGE_NAMES.length * (AGE.tall + AGE.apart) + STRIP.axis;

  const picture = versionPicture(root, {
    label: "Size of row IDs",
    height,
    draw,
    describe: (p) => [describeVersion(p), <div>{growth ? growthWords(growth, p) : ""}</div>, ...agesAt(p)],
    words: (p) =>
      p < 0
        ? "no version"
        : `version ${count(history.versions[p])}${growth ? `, ${perRow(growth.growth_now[p])} a row` : ""}`,
    onMove,
  });

  function draw(context: CanvasRenderingContext2D, scale: VersionScale, width: number) {
    const look = lookOf(context.canvas);
    if (growth) drawCost(context, growth, scale, width, look);
    else drawWaiting(context, look);
    drawCommits(context, history, scale, top() + STRIP.chart);
    marginLabel(context, "commits", top() + STRIP.chart + (STRIP.commits - 6) / 2, look.quiet);
    for (const [i, [name, word]] of AGE_NAMES.entries()) {
      drawAges(context, scale, width, look, name, word, agesTop() + i * (AGE.tall + AGE.apart));
    }
    drawGaps(context, history, scale, top(), height() - STRIP.axis - top());
    drawTags(context, history, scale, width);
  }

  function drawWaiting(context: CanvasRenderingContext2D, look: Look) {
    context.font = canvasFont(context.canvas);
    context.fillStyle = look.quiet;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(
      isFailed ? "not known" : "reading the row IDs of all versions…",
      STRIP.side,
      top() + STRIP.chart / 2,
    );
  }

  function drawCost(context: CanvasRenderingContext2D, growth: Growth, scale: VersionScale, width: number, look: Look) {
    const { growth_now: now, growth_best: best } = growth;
    const largest = now.reduce((most, value, p) => Math.max(most, value || 0, best[p] || 0), 0);
    const [high, low] = [top() + 6, top() + STRIP.chart - 8];
    const y = (value: number) => low - (largest ? (value / largest) * (low - high) : 0);
    marginLabel(context, largest ? perRow(largest) : "", high, look.quiet);
    marginLabel(context, "0", low - 2, look.quiet);
    context.strokeStyle = look.line;
    context.lineWidth = 1;
    for (const value of [0, largest]) {
      context.beginPath();
      context.moveTo(STRIP.side, Math.round(y(value)) + 0.5);
      context.lineTo(width - STRIP.side, Math.round(y(value)) + 0.5);
      context.stroke();
    }
    context.strokeStyle = look.ink;
    context.lineWidth = 1.5;
    context.setLineDash([4, 3]);
    context.stroke(stepPath(history, scale, best, y));
    context.strokeStyle = history.growth_color;
    context.lineWidth = 2;
    context.setLineDash([]);
    context.stroke(stepPath(history, scale, now, y));
  }

  /** Bars for the rows that each version created, or last updated, in the colour of its commit. */
  function drawAges(
    context: CanvasRenderingContext2D,
    scale: VersionScale,
    width: number,
    look: Look,
    name: keyof Ages,
    word: string,
    y: number,
  ) {
    marginLabel(context, word, y + AGE.tall / 2, look.quiet);
    context.fillStyle = look.line;
    context.fillRect(STRIP.side, y + AGE.tall, width - 2 * STRIP.side, 1);
    if (!ages) return;
    const step = versionsPerBar(scale);
    const bars = [];
    for (let begin = 0; begin < history.count; begin += step) {
      const kinds = new Map();
      let rows = 0;
      for (let p = begin; p < Math.min(begin + step, history.count); p += 1) {
        if (!ages[name][p]) continue;
        rows += ages[name][p];
        kinds.set(history.kind[p], (kinds.get(history.kind[p]) ?? 0) + ages[name][p]);
      }
      if (rows) bars.push({ begin, end: Math.min(begin + step, history.count) - 1, rows, kinds });
    }
    const largest = bars.reduce((most, { rows }) => Math.max(most, rows), 0);
    for (const bar of bars) {
      const single = Math.min(14, scale.unit - Math.min(2, scale.unit / 4));
      const [left, wide] =
        step === 1
          ? [scale.center(bar.begin) - single / 2, single]
          : [scale.left[bar.begin], Math.max(1, scale.left[bar.end] + scale.unit - scale.left[bar.begin])];
      let bottom = y + AGE.tall;
      for (const [kind, rows] of [...bar.kinds].sort(([a], [b]) => a - b)) {
        const tall = Math.max(1.5, (AGE.tall * rows) / largest);
        context.fillStyle = kindColor(history, kind);
        context.fillRect(left, bottom - tall, wide, tall);
        bottom -= tall;
      }
    }
  }

  function agesAt(p: number) {
    if (!ages || !(ages.age_created_at[p] || ages.age_last_updated_at[p])) return [];
    return [
      <div>{`Rows of the chosen version that it created: ${count(ages.age_created_at[p])}, that it last wrote: ${count(ages.age_last_updated_at[p])}`}</div>,
    ];
  }

  return {
    ...picture,
    setHistory(newest: History & EncodingsData) {
      history = newest;
      growth = null;
      ages = null;
      isFailed = false;
      picture.setHistory(newest);
    },
    /** Show what row IDs cost; null if that cannot be told. */
    setGrowth(newest: Growth | null) {
      growth = newest;
      isFailed = newest === null;
      picture.redraw();
    },
    setAges(newest: Ages | null) {
      ages = newest;
      picture.redraw();
    },
  };
}

/** What is said of the row IDs of a version, in the words of Python; nothing if it is not known. */
export function growthWords(growth: Growth, p: number) {
  const { growth_now: now, growth_best: best, growth_bytes: size, growth_segments: segments } = growth;
  if (Number.isNaN(size[p])) return "";
  const told = Number.isNaN(segments[p]) ? "" : ` in ${plural(segments[p], "segment")}`;
  const atBest = Number.isNaN(best[p]) ? "" : `, at best ${perRow(best[p])}`;
  return `Row IDs: ${bytes(size[p])}${told}; ${perRow(now[p])} a row${atBest}`;
}
