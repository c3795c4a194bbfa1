// What is on disk and whose it is, and what a cleanup or a compaction would make of it.

import "./disk_panel.css";
import { node } from "./elements";
import { legendEntry, swatch } from "./legend";
import type { DiskUsage } from "./messages";
import { bytes, cut, visible } from "./text";

/** All of it; of what could not be listed, why. */
export function diskContent(usage: DiskUsage) {
  if (usage.failure) return [node("div", { class: "lx-note" }, cut(usage.failure, 500))];
  return [
    node("p", { class: "lx-disk-sentence" }, `${usage.sentence}.`),
    bar(usage),
    node("div", { class: "lx-legend" }, ...usage.statuses.map(entry)),
    node("div", { class: "lx-scroll-x" }, table(usage)),
    node("dl", { class: "lx-disk-plans" }, ...usage.plans.flatMap(plan)),
  ];
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

function plan({ title, sentence, code, about, details }: DiskUsage["plans"][number]) {
  return [
    node("dt", {}, title),
    node(
      "dd",
      {},
      node("div", {}, sentence, " ", node("code", {}, code)),
      details.length ? node("div", { class: "lx-quiet" }, `${about}:`) : null,
      node("ul", { class: "lx-quiet" }, ...details.map((detail) => node("li", {}, visible(detail)))),
    ),
  ];
}
