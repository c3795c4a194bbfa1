// How much of each fragment is deleted.

import { canvas, canvasFont, onTheme, themeColor } from "./canvas";
import { node, setAttributes } from "./elements";
import { KIND_COLORS } from "./kinds";
import type { FilesSummary } from "./messages";
import { count, percent, plural } from "./text";
import { tooltip } from "./tooltip";

/** What is known of the files of one version. */
export type Summary = FilesSummary;

const DELETIONS = { height: 110, left: 46, bottom: 20, top: 8 };

const DELETED_COLOR = KIND_COLORS.delete;

/**
 * How much of each fragment is deleted, from left to right: `element`, `setFragments(...)`,
 * `show(fragment_id)`, `close()`. Where they are many, a bar is the most of several.
 */
export function deletionsPicture(root: HTMLElement, { onSelect }: { onSelect: (id: string) => void }) {
  let fragments!: Summary;
  let shares = new Float64Array();
  let threshold = 0;
  let selected = -1;
  const picture = canvas(DELETIONS.height, draw);
  const tip = tooltip(root);
  const note = node("div", { class: "lx-quiet lx-picture-note" });
  const chart = node(
    "div",
    { class: "lx-picture", role: "slider", tabindex: "0", "aria-label": "Fragment", "aria-orientation": "horizontal" },
    picture.element,
  );
  const caption = node("figcaption", { class: "lx-quiet" }, "deleted part of each fragment");
  const element = node("figure", { class: "lx-figure" }, caption, chart, note);

  function bars(width: number) {
    const room = width - DELETIONS.left - 6;
    const each = Math.max(1, Math.ceil(shares.length / Math.floor(room / 3)));
    const number = Math.ceil(shares.length / each);
    return { each, number, unit: Math.min(60, room / Math.max(1, number)) };
  }

  /** The fragment of a bar with the most deleted. */
  function worst(bar: number, each: number) {
    let best = bar * each;
    for (let i = best; i < Math.min((bar + 1) * each, shares.length); i += 1)
      if (shares[i] > shares[best] || Number.isNaN(shares[best])) best = i;
    return best;
  }

  function draw(context: CanvasRenderingContext2D, width: number, tall: number) {
    if (!shares.length) return;
    const { each, number, unit } = bars(width);
    const base = tall - DELETIONS.bottom;
    const y = (share: number) => base - share * (base - DELETIONS.top);
    context.font = canvasFont(chart);
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const share of [0, 0.5, 1]) {
      context.strokeStyle = themeColor(chart, "line");
      context.fillStyle = themeColor(chart, "quiet");
      const at = Math.round(y(share)) + 0.5;
      context.beginPath();
      context.moveTo(DELETIONS.left, at);
      context.lineTo(width, at);
      context.stroke();
      context.fillText(`${100 * share} %`, DELETIONS.left - 6, at);
    }
    for (let bar = 0; bar < number; bar += 1) {
      const share = shares[worst(bar, each)];
      const isChosen = selected >= bar * each && selected < (bar + 1) * each;
      const [x, wide] = [DELETIONS.left + bar * unit, Math.max(1, unit - (unit > 4 ? 2 : 0))];
      if (isChosen) {
        context.fillStyle = themeColor(chart, "accent");
        context.fillRect(x - 1, base + 2, wide + 2, 4);
      }
      context.fillStyle = DELETED_COLOR;
      if (share > 0) context.fillRect(x, Math.min(y(share), base - 1), wide, base - Math.min(y(share), base - 1));
    }
    context.strokeStyle = themeColor(chart, "ink");
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(DELETIONS.left, y(threshold));
    context.lineTo(width, y(threshold));
    context.stroke();
    context.setLineDash([]);
    drawIds(context, base, number, unit);
    chart.dataset.drawn = selected < 0 ? "" : String(fragments.fragment[selected]);
  }

  function drawIds(context: CanvasRenderingContext2D, base: number, number: number, unit: number) {
    context.fillStyle = themeColor(chart, "quiet");
    context.textBaseline = "alphabetic";
    context.textAlign = "center";
    const middle = (bar: number) => DELETIONS.left + (bar + 0.5) * unit;
    if (
      number === shares.length &&
      context.measureText(count(fragments.fragment[shares.length - 1])).width + 8 < unit
    ) {
      for (const [bar, id] of fragments.fragment.entries()) context.fillText(count(id), middle(bar), base + 17);
      return;
    }
    context.textAlign = "left";
    context.fillText(count(fragments.fragment[0]), DELETIONS.left, base + 17);
    context.textAlign = "right";
    context.fillText(count(fragments.fragment[shares.length - 1]), DELETIONS.left + number * unit, base + 17);
  }

  function at(event: MouseEvent) {
    const box = chart.getBoundingClientRect();
    const { each, number, unit } = bars(box.width);
    const bar = Math.floor((event.clientX - box.left - DELETIONS.left) / unit);
    return bar >= 0 && bar < number ? worst(bar, each) : -1;
  }

  function words(i: number) {
    const rows = fragments.fragment_rows[i];
    const deleted = fragments.fragment_deleted[i];
    const told = Number.isNaN(deleted)
      ? "an unknown number of rows deleted"
      : `${count(deleted)} of ${Number.isNaN(rows) ? "an unknown number of" : count(rows)} rows deleted`;
    return `fragment ${count(fragments.fragment[i])}: ${told}${shares[i] > 0 ? ` (${percent(shares[i])})` : ""}`;
  }

  chart.addEventListener("pointermove", (event) => {
    const i = at(event);
    if (i < 0) tip.hide();
    else tip.show(event, words(i));
  });
  chart.addEventListener("pointerleave", () => tip.hide());
  chart.addEventListener("click", (event) => at(event) >= 0 && onSelect(String(fragments.fragment[at(event)])));
  chart.addEventListener("keydown", (event) => {
    const targets: Record<string, number> = {
      ArrowLeft: selected - 1,
      ArrowRight: selected + 1,
      Home: 0,
      End: shares.length - 1,
    };
    if (!(event.key in targets) || !shares.length) return;
    event.preventDefault();
    event.stopPropagation();
    onSelect(String(fragments.fragment[Math.min(Math.max(targets[event.key], 0), shares.length - 1)]));
  });
  const stopTheme = onTheme(picture.redraw);

  return {
    element,
    setFragments(summary: Summary) {
      fragments = summary;
      threshold = summary.threshold;
      shares = summary.fragment_deleted.map((deleted, i) =>
        summary.fragment_rows[i] > 0 ? deleted / summary.fragment_rows[i] : deleted === 0 ? 0 : NaN,
      );
      const there = shares.reduce((sum, share) => sum + (share > 0 ? 1 : 0), 0);
      const over = shares.reduce((sum, share) => sum + (share > threshold ? 1 : 0), 0);
      chart.hidden = !shares.length || (!there && !shares.some(Number.isNaN));
      caption.hidden = chart.hidden;
      const { each } = bars(chart.clientWidth || 800);
      note.textContent = !shares.length
        ? "The version has no fragments."
        : chart.hidden
          ? `No row of the ${plural(shares.length, "fragment")} is deleted.`
          : `${count(there)} of ${plural(shares.length, "fragment")} with deleted rows; a compaction rewrites those above the dashed line (${percent(threshold)}): ${count(over)}.${each > 1 ? ` Each bar is the most of ${count(each)} fragments.` : ""}`;
      setAttributes(chart, { "aria-valuemin": 0, "aria-valuemax": Math.max(0, shares.length - 1) });
      picture.redraw();
    },
    show(id: string | null) {
      selected = !fragments || id === null ? -1 : fragments.fragment.indexOf(BigInt(id));
      setAttributes(chart, {
        "aria-valuenow": Math.max(0, selected),
        "aria-valuetext": selected < 0 ? "none" : words(selected),
      });
      picture.redraw();
    },
    close() {
      stopTheme();
      picture.close();
    },
  };
}
