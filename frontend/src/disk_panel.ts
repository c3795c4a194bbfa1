// What is on disk and whose it is, since when, and what a cleanup or a compaction would make of it.

import "./disk_panel.css";
import { sectionsOf } from "./answer_sections";
import { unpackArrays } from "./arrays";
import { awaited } from "./awaited";
import { byteAreas } from "./byte_areas";
import { toClipboard } from "./clipboard";
import { fill, node } from "./elements";
import type { History } from "./history";
import { legendEntry, swatch } from "./legend";
import type { DiskArrays, DiskUsage, Plan, Plans } from "./messages";
import { bytes, count, cut } from "./text";

interface DiskActions {
  onMove: (version: string) => void;
  /** Whether each kind of object has a line, and each plan all that there is to say of it. */
  isWhole: boolean;
}

/**
 * The panel: `element`, `setDisk(usage, history)` with what is on disk and all versions, `setPlans(plans)`,
 * `show(version)` with the chosen one, `close()`. It has its height before what it shows is known.
 */
export function diskPanel(root: HTMLElement, { onMove, isWhole }: DiskActions) {
  let history: History | null = null;
  let version: bigint | null = null;
  const about = node("div", { class: "lx-disk-first" }, ...waitingFirst());
  const then = node("div", {}, waitingPlans());
  const kinds = node("div", { class: "lx-scroll-x" });
  const growth = byteAreas(root, { label: "Bytes on disk over versions", height: 110, onMove: move, describeVersion });
  const rest = node("div", { class: "lx-quiet lx-disk-rest" });
  const over = node(
    "div",
    { class: "lx-disk-growth" },
    node("div", { class: "lx-quiet" }, "What is there now, by the version that wrote it:"),
    growth.element,
    rest,
  );
  const drawn = awaited(over);
  const element = node(
    "div",
    { class: isWhole ? "lx-disk-panel" : "lx-disk-panel lx-disk-brief" },
    about,
    then,
    kinds,
    over,
  );

  function move(p: number) {
    const there = history?.versions[p];
    if (there !== undefined) onMove(String(there));
  }

  function describeVersion(p: number) {
    return node("div", {}, node("strong", {}, `Written up to version ${count((history as History).versions[p])}`));
  }

  function mark() {
    if (history?.count) growth.show((version === null ? undefined : history.positionOf(String(version))) ?? -1, null);
  }

  return {
    element,
    setDisk(usage: DiskUsage, newest: History) {
      history = newest;
      if (usage.failure !== undefined) {
        fill(about, node("div", { class: "lx-note" }, cut(usage.failure, 500)));
        fill(then);
        fill(kinds);
        over.hidden = true;
        return;
      }
      fill(
        about,
        node("p", { class: "lx-disk-sentence" }, usage.sentence),
        bar(usage),
        node("div", { class: "lx-legend" }, ...usage.statuses.map(entry)),
      );
      if (isWhole) fill(kinds, table(usage));
      over.hidden = !history.count;
      if (!history.count) return;
      drawn.come();
      const arrays = unpackArrays<DiskArrays>(usage);
      growth.setHistory(
        { ...history, tags: [] },
        usage.parts.map(({ name, words, color }) => ({
          name: words,
          color,
          values: alignedTo(newest, arrays.disk_versions, arrays[`disk_${name}`]),
        })),
      );
      rest.textContent =
        usage.rest_bytes === "0" ? "" : `Besides, ${bytes(usage.rest_bytes)} that none of these versions needs.`;
      mark();
    },
    setPlans({ plans }: Plans) {
      if (plans.length) fill(then, planList(...plans.map((plan) => planLines(plan, isWhole))));
      else fill(then);
    },
    show(newest: bigint | undefined) {
      version = newest ?? null;
      mark();
    },
    close: growth.close,
  };
}

const NUM_PLANS = 3;

/** Lines as grey bars, where text is going to be. */
function waitingLine(width: string) {
  return node("i", { class: "lx-disk-waiting", style: { width } });
}

function waitingFirst() {
  return [
    node("p", { class: "lx-disk-sentence lx-quiet", role: "status" }, "Looking at what is on disk…"),
    node("div", { class: "lx-disk-bar lx-disk-waiting" }),
    node("div", { class: "lx-legend" }, waitingLine("24ch")),
  ];
}

function waitingPlans() {
  const plan = () => [node("dt", {}, "\u00a0"), node("dd", {}, waitingLine("60%"), waitingLine("40%"))];
  return planList(...Array.from({ length: NUM_PLANS }, plan));
}

function planList(...plans: Node[][]) {
  return node("dl", { class: "lx-disk-plans" }, ...plans.flat());
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

/**
 * A plan: what comes of it, what it would break, what is lost, and then the call. A call that breaks what others
 * need is not among the plans: `code` does something else then, or is empty.
 */
export function planLines({ title, sentence, sections, code, lines }: Plan, isWhole: boolean) {
  const first = sections.filter(({ name }) => !AFTER_THE_CALL.has(name));
  const more = sectionsOf(sections.filter(({ name }) => AFTER_THE_CALL.has(name)));
  return [
    node("dt", {}, title),
    node(
      "dd",
      {},
      node("div", {}, sentence),
      ...sectionsOf(first),
      code ? node("div", { class: "lx-disk-call" }, node("code", {}, code), copyButton(lines)) : null,
      ...(isWhole || !more.length ? more.map(quiet) : [folded(more)]),
    ),
  ];
}

function quiet(section: Node) {
  return node("div", { class: "lx-quiet" }, section);
}

function folded(sections: Node[]) {
  return node("details", { class: "lx-quiet" }, node("summary", {}, "What it takes, and what stays"), ...sections);
}

/** What it takes and what stays need not be read before the call is copied. */
const AFTER_THE_CALL = new Set(["costs", "stays"]);

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
