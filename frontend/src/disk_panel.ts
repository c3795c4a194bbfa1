// What is on disk and whose it is, since when, and what a cleanup or a compaction would make of it.

import "./disk_panel.css";
import { unpackArrays } from "./arrays";
import { byteAreas } from "./byte_areas";
import { toClipboard } from "./clipboard";
import { fill, node } from "./elements";
import type { History } from "./history";
import { legendEntry, swatch } from "./legend";
import type { DiskArrays, DiskUsage, Plan } from "./messages";
import { bytes, count, cut, visible } from "./text";

interface DiskActions {
  onMove: (position: number) => void;
  /** Whether each kind of object has a line, and each plan all that there is to say of it. */
  isWhole: boolean;
}

/**
 * The panel: `element`, `setHistory(history)` with all versions, `setDisk(usage)` with what is on disk once it is
 * known, `show(position)` with the chosen version, `close()`.
 */
export function diskPanel(root: HTMLElement, { onMove, isWhole }: DiskActions) {
  let history: History | null = null;
  let position = -1;
  const about = node("div", { class: "lx-disk-first" }, node("p", { class: "lx-quiet" }, "looking…"));
  const then = node("div", {});
  const kinds = node("div", { class: "lx-scroll-x" });
  const growth = byteAreas(root, { label: "Bytes on disk over versions", height: 110, onMove, describeVersion });
  const rest = node("div", { class: "lx-quiet lx-disk-rest" });
  const over = node(
    "div",
    { class: "lx-disk-growth", hidden: true },
    node("div", { class: "lx-quiet" }, "What is there now, by the version that wrote it:"),
    growth.element,
    rest,
  );

  function describeVersion(p: number) {
    return node("div", {}, node("strong", {}, `Written up to version ${count((history as History).versions[p])}`));
  }

  return {
    element: node("div", { class: "lx-disk-panel" }, about, then, kinds, over),
    setHistory(newest: History) {
      history = newest;
      over.hidden = true;
    },
    setDisk(usage: DiskUsage) {
      if (usage.failure !== undefined) {
        fill(about, node("div", { class: "lx-note" }, cut(usage.failure, 500)));
        fill(then);
        fill(kinds);
        over.hidden = true;
        return;
      }
      fill(
        about,
        node("p", { class: "lx-disk-sentence" }, `${usage.sentence}.`),
        bar(usage),
        node("div", { class: "lx-legend" }, ...usage.statuses.map(entry)),
      );
      if (isWhole) fill(kinds, table(usage));
      fill(then, node("dl", { class: "lx-disk-plans" }, ...usage.plans.flatMap((plan) => planLines(plan, isWhole))));
      over.hidden = !history?.count;
      if (!history?.count) return;
      const arrays = unpackArrays<DiskArrays>(usage);
      growth.setHistory(
        { ...history, tags: [] },
        usage.parts.map(({ name, words, color }) => ({
          name: words,
          color,
          values: alignedTo(history as History, arrays.disk_versions, arrays[`disk_${name}`]),
        })),
      );
      rest.textContent =
        usage.rest_bytes === "0" ? "" : `Besides, ${bytes(usage.rest_bytes)} that none of these versions needs.`;
      growth.show(position, null);
    },
    show(newest: number) {
      position = newest;
      if (!over.hidden) growth.show(position, null);
    },
    close: growth.close,
  };
}

/** Running totals for the versions of a history, from those of versions that may be others. */
export function alignedTo({ versions }: { versions: BigUint64Array }, known: BigUint64Array, totals: Float64Array) {
  const values = new Float64Array(versions.length);
  let at = 0;
  for (const [p, version] of versions.entries()) {
    while (at < known.length && known[at] <= version) at += 1;
    values[p] = at ? totals[at - 1] : 0;
  }
  return values;
}

function entry({ words, color, bytes: size }: DiskUsage["statuses"][number]) {
  return legendEntry(swatch(color), `${words}: ${bytes(size)}`);
}

/** One bar, in parts as wide as they are large. */
function bar({ statuses, sentence }: DiskUsage) {
  return node(
    "div",
    { class: "lx-disk-bar", role: "img", "aria-label": sentence },
    ...statuses.map(({ words, color, bytes: size }) =>
      node("i", { title: `${words}: ${bytes(size)}`, style: { background: color, "flex-grow": size } }),
    ),
  );
}

function table({ statuses, kinds }: DiskUsage) {
  const head = ["", ...statuses.map(({ words }) => words)];
  return node(
    "table",
    { class: "lx-disk" },
    node("thead", {}, node("tr", {}, ...head.map((text) => node("th", { scope: "col" }, text)))),
    node(
      "tbody",
      {},
      ...kinds.map(({ words, bytes: sizes }) =>
        node(
          "tr",
          {},
          node("th", { scope: "row" }, words),
          ...statuses.map(({ name }) => node("td", {}, name in sizes ? bytes(sizes[name]) : "")),
        ),
      ),
    ),
  );
}

function planLines({ title, sentence, code, lines, costs, about, details }: Plan, isWhole: boolean) {
  const list = node("ul", { class: "lx-quiet" }, ...details.map((detail) => node("li", {}, visible(detail))));
  const told = isWhole
    ? [details.length ? node("div", { class: "lx-quiet" }, `${about}:`) : null, list]
    : [details.length ? node("details", { class: "lx-quiet" }, node("summary", {}, about), list) : null];
  return [
    node("dt", {}, title),
    node(
      "dd",
      {},
      node("div", {}, sentence),
      costs ? node("div", { class: "lx-quiet" }, visible(costs)) : null,
      node("div", {}, node("code", {}, code), copyButton(lines)),
      ...told,
    ),
  ];
}

function copyButton(lines: string) {
  const button: HTMLButtonElement = node(
    "button",
    {
      class: "lx-button lx-small",
      title: `Copy:\n${lines}`,
      onclick: async () => {
        button.textContent = (await toClipboard(lines)) ? "Copied" : "Select it to copy";
      },
    },
    "Copy",
  );
  return button;
}
