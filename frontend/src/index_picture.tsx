// What an index had of each fragment, over versions, as a picture: a line of percent on top, the
// commits, and a row for each fragment below, or for several where they are many.

import type { ComponentChildren } from "preact";
import { contextOf, lookOf, themeColor } from "./canvas";
import type { History } from "./history";
import { drawCoverage, drawPercent, labelRows } from "./index_drawing";
import type { Lives } from "./index_lives";
import { addUp, COVERAGE_WORDS, coverageLines, coverageRows, mixed, NO_LIVES } from "./index_lives";
import type { IndicesData } from "./messages";
import { count, cut, finePercent, plural, shortId } from "./text";
import type { VersionScale } from "./version_axis";
import { drawCommits, drawGaps, drawTags, MARGIN, marginLabel, STRIP } from "./version_axis";
import { versionPicture } from "./version_picture";

export type IndicesHistory = History & IndicesData;

/**
 * The picture: as a versionPicture, and `setLives(lives)`; `note()` says for what its rows and
 * columns stand. `onMove(position, id)` gets the ID of a fragment as text.
 */
export function indexPicture(
  root: HTMLElement,
  {
    onMove,
    describeVersion,
  }: {
    onMove: (position: number, id?: string | null) => void;
    describeVersion: (position: number) => ComponentChildren;
  },
) {
  let history!: IndicesHistory;
  let lines: Float64Array[] = [];
  let lives = NO_LIVES;
  let rows = { each: 1, number: 0, tall: 0 };
  let drawn: { step: number; image: HTMLCanvasElement } | null = null; // the raster, as long as it is of use
  const top = () => (history?.tags.length ? STRIP.tags : 8);
  const tableTop = () => top() + STRIP.chart + STRIP.commits + 4;
  const height = () => tableTop() + rows.number * rows.tall + 4 + STRIP.axis;
  const chosen = () => history.index_names.indexOf(lives.index);
  const idOf = (slot: number) => String(lives.fragments[slot]);

  const picture = versionPicture(root, {
    label: "What the index covers",
    height,
    draw,
    drawMark,
    rowAt,
    nextRow,
    describe,
    words: (position, id) =>
      position < 0
        ? "no version"
        : `version ${count(history.versions[position])}${id === null ? "" : `, fragment ${count(id)}, ${coverageAt(id, position)}`}`,
    onMove,
  });

  function draw(context: CanvasRenderingContext2D, scale: VersionScale, width: number) {
    const look = lookOf(context.canvas);
    drawPercent(context, history, scale, { top: top(), lines, chosen: chosen(), look, width });
    drawCommits(context, history, scale, top() + STRIP.chart);
    marginLabel(context, "commits", top() + STRIP.chart + (STRIP.commits - 6) / 2 + 1, look.quiet);
    if (lives.count) {
      const step = scale.unit >= 1 ? 1 : Math.ceil(1 / scale.unit);
      if (drawn?.step !== step) drawn = { step, image: rasterOf(step) };
      drawCoverage(context, history, scale, { ...drawn, rows, top: tableTop(), look });
      labelRows(context, rows, (row) => shortId(idOf(row * rows.each)), tableTop(), look);
    }
    drawGaps(context, history, scale, top(), height() - STRIP.axis - top());
    drawTags(context, history, scale, width);
  }

  function rasterOf(step: number) {
    const columns = Math.ceil(history.count / step);
    const off = document.createElement("canvas");
    [off.width, off.height] = [columns, rows.number];
    contextOf(off).putImageData(
      mixed(lives, addUp(lives, rows, step, columns), rows, step, columns, history.count),
      0,
      0,
    );
    return off;
  }

  /** Frame the row of the chosen fragment, and name it in the margin. */
  function drawMark(context: CanvasRenderingContext2D, scale: VersionScale, _width: number, id: string | null) {
    const slot = id === null ? undefined : lives.slotOf(id);
    if (id === null || slot === undefined) return;
    const y = tableTop() + Math.floor(slot / rows.each) * rows.tall;
    const tall = Math.max(rows.tall, 3);
    const accent = themeColor(context.canvas, "accent");
    context.strokeStyle = themeColor(context.canvas, "ink");
    context.lineWidth = 1.5;
    context.strokeRect(STRIP.side - 1, y - 1, scale.left[history.count - 1] + scale.unit - STRIP.side + 2, tall + 1);
    context.fillStyle = accent;
    context.beginPath();
    const middle = y + tall / 2;
    context.roundRect(4 - MARGIN, middle - 8, MARGIN - 9, 16, 4);
    context.fill();
    marginLabel(context, shortId(id), middle, themeColor(context.canvas, "paper"), 600);
  }

  // --- places

  function rowAt(y: number, position: number) {
    const row = Math.floor((y - tableTop()) / rows.tall);
    if (row < 0 || row >= rows.number) return null;
    const members = membersOf(row);
    const there = members.filter((slot) => lives.at(slot, position));
    const lacking = there.find((slot) => lives.coverages[lives.at(slot, position)] === "not_covered");
    return idOf(lacking ?? there[0] ?? members[0]);
  }

  function membersOf(row: number) {
    const begin = row * rows.each;
    return Array.from({ length: Math.min(rows.each, lives.count - begin) }, (_, i) => begin + i);
  }

  function nextRow(id: string | null, step: number, position: number) {
    if (!lives.count) return undefined;
    const now = id === null ? undefined : lives.slotOf(id);
    let slot = now === undefined ? (step > 0 ? 0 : lives.count - 1) : now + step;
    while (slot >= 0 && slot < lives.count && !lives.at(slot, position)) slot += step;
    return slot < 0 || slot >= lives.count ? undefined : idOf(slot);
  }

  function coverageAt(id: string, position: number) {
    const slot = lives.slotOf(id);
    const kind = slot === undefined ? 0 : lives.at(slot, position);
    return kind ? COVERAGE_WORDS[lives.coverages[kind]] : "not in this version";
  }

  // --- words

  function describe(position: number, id: string | null) {
    const share = lines[chosen()]?.[position];
    const told = [describeVersion(position)];
    if (lives.index && !Number.isNaN(share ?? NaN))
      told.push(<div>{`${cut(lives.index, 60)} covers ${finePercent(share)} of the rows`}</div>);
    if (id !== null && lives.slotOf(id) !== undefined)
      told.push(...describeRow(Math.floor((lives.slotOf(id) ?? 0) / rows.each), position));
    return told;
  }

  function describeRow(row: number, position: number) {
    const members = membersOf(row);
    if (members.length === 1)
      return [
        <div>
          <strong>{`Fragment ${count(idOf(members[0]))}`}</strong>
          {`: ${coverageAt(idOf(members[0]), position)}`}
        </div>,
      ];
    const counts = new Map();
    for (const slot of members) counts.set(lives.at(slot, position), (counts.get(lives.at(slot, position)) ?? 0) + 1);
    counts.delete(0);
    const lines = [...counts]
      .sort(([a], [b]) => a - b)
      .map(([kind, number]) => `${count(number)} ${COVERAGE_WORDS[lives.coverages[kind]]}`);
    return [
      <div>
        <strong>{`Fragments ${count(idOf(members[0]))} to ${count(idOf(members[members.length - 1]))}`}</strong>
        {`: ${lines.join("; ") || "none in this version"}`}
      </div>,
    ];
  }

  return {
    ...picture,
    setHistory(newest: IndicesHistory) {
      history = newest;
      lines = coverageLines(history);
      lives = NO_LIVES;
      rows = { each: 1, number: 0, tall: 0 };
      picture.setHistory(newest);
    },
    setLives(newest: Lives) {
      lives = newest;
      rows = coverageRows(lives);
      drawn = null;
      picture.redraw();
    },
    /** How many fragments of a version the index covers, and so on: [name, number]. */
    countsAt(position: number) {
      const counts = new Map();
      for (let slot = 0; slot < lives.count; slot += 1) {
        const kind = lives.at(slot, position);
        if (kind) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
      return [...counts].sort(([a], [b]) => a - b).map(([kind, number]) => [lives.coverages[kind], number] as const);
    },
    note() {
      if (rows.each === 1) return "";
      return `${plural(lives.count, "fragment")} in ${plural(rows.number, "row")}, up to ${count(rows.each)} each: colours mix`;
    },
  };
}
