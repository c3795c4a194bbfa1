// Growth over versions: how many rows or fragments each had, or how much data, and the chosen one in words.

import { choiceBar, panel } from "./cards";
import { versionBefore } from "./changes_words";
import { fill, node } from "./elements";
import { historyStrip } from "./history_strip";
import { kindLegend, legendEntry, operationChip } from "./legend";
import type { Link } from "./link";
import type { OverviewHistory } from "./overview_panels";
import { absoluteTime, bytes, count, plural, relativeTime, visible } from "./text";
import { describeVersion } from "./version_words";

type Measure = "num_rows" | "data_bytes" | "num_fragments";

const MEASURES: Record<Measure, { label: string; format: (value: number) => string }> = {
  num_rows: { label: "rows", format: (value) => plural(value, "row") },
  data_bytes: { label: "data", format: bytes },
  num_fragments: { label: "fragments", format: (value) => plural(value, "fragment") },
};

const CHART = 110; // px: here the picture of growth is the main thing

/**
 * The panel: `element`, `wait(numVersions)` while so many are read, `setHistory(history)`, `show(position)`,
 * `miss(version)` where that is none of them, `close()`. `onMove(position)` is called when one is chosen.
 */
export function growthPanel(link: Link, { onMove }: { onMove: (position: number) => void }) {
  let history!: OverviewHistory;
  let measure: Measure = "num_rows";
  let position = -1;

  const scaleLabel = node("span", { class: "lx-scale-label lx-quiet" });
  const times = node("div", { class: "lx-times lx-quiet" });
  const legend = node("div", { class: "lx-legend" });
  const chosen = node("div", { class: "lx-chosen", role: "status" });
  const strip = historyStrip(link.root, { onMove, describe, chart: CHART });
  const measures = choiceBar(
    "What grew",
    Object.entries(MEASURES).map(([name, { label }]) => [name, label]),
    (name) => {
      measure = name as Measure;
      if (history) draw();
    },
  );

  /** The same picture as in time travel, of what was chosen to look at. */
  function draw() {
    const values = history[measure];
    const most = values.reduce(
      (best, value, p) => (value > (values[best] ?? -1) || Number.isNaN(values[best]) ? p : best),
      0,
    );
    scaleLabel.textContent = Number.isNaN(values[most])
      ? "not recorded"
      : `most: ${MEASURES[measure].format(values[most])}, version ${count(history.versions[most])}`;
    strip.setHistory({ ...history, num_rows: values });
    if (position >= 0) strip.show(position);
  }

  function describe(p: number) {
    const { format } = MEASURES[measure];
    const change = p ? history[measure][p] - history[measure][p - 1] : 0;
    const told = describeVersion(history, p);
    if (change)
      told.push(
        node("div", {}, `${change > 0 ? `+${format(change)}` : `−${format(-change)}`} since the version before`),
      );
    return told;
  }

  return {
    element: panel(
      "Growth",
      measures.element,
      node("div", { class: "lx-growth" }, scaleLabel, strip.element),
      times,
      legend,
      chosen,
    ),
    wait(numVersions: number) {
      scaleLabel.textContent = `reading ${plural(numVersions, "version")}…`;
    },
    setHistory(newest: OverviewHistory) {
      history = newest;
      position = -1;
      const [first, last] = [history.timeAt(0), history.timeAt(history.count - 1)];
      fill(times, node("span", {}, absoluteTime(first)), history.count > 1 ? node("span", {}, absoluteTime(last)) : "");
      const pale = legendEntry(node("i", { class: "lx-swatch lx-pale" }), "pale: known from the ledger");
      fill(legend, ...kindLegend(history), history.is_recorded.includes(1) ? pale : null);
      draw();
    },
    show(newest: number) {
      position = newest;
      strip.show(position);
      const version = String(history.versions[position]);
      fill(
        chosen,
        ...chosenWords(history, position),
        link.leadTo("time_travel", "Open in Time travel", { version }),
        link.leadTo("changes", "What changed", { version, compared_version: versionBefore(history, position) }),
      );
    },
    miss(version: string) {
      position = -1;
      strip.show(history.count - 1);
      fill(
        chosen,
        node(
          "span",
          { class: "lx-quiet" },
          `Version ${count(version)} is not among those that can be shown; Refresh looks for new ones`,
        ),
      );
    },
    close: strip.close,
  };
}

function chosenWords(history: OverviewHistory, position: number) {
  const time = history.timeAt(position);
  const message = history.messages[position];
  return [
    node("strong", {}, `Version ${count(history.versions[position])}`),
    operationChip(history, position),
    node(
      "span",
      { class: "lx-chosen-words" },
      history.wordsOf(position),
      message ? node("em", { class: "lx-quiet" }, ` “${visible(message)}”`) : null,
    ),
    node("span", { class: "lx-quiet" }, time ? `${relativeTime(time)}, ${absoluteTime(time)}` : absoluteTime(time)),
  ];
}
