// The view: the story of the table. What the latest version tells is shown while all versions are
// read; what made it big, what is on disk and what to do come after them, each when it is known.

import "./overview.css";
import { choiceBar, panel } from "./cards";
import { askWords } from "./commit_words";
import { diskPanel } from "./disk_panel";
import { fill, node } from "./elements";
import type { History } from "./history";
import { unpackHistory } from "./history";
import { historyStrip } from "./history_strip";
import { kindColor, kindLegend, legendEntry, swatch } from "./legend";
import { connect } from "./link";
import type { Advice, DiskUsage, HistoryContent, Latest, Plans, Sizes, State, Story } from "./messages";
import type { View } from "./model";
import type { Measure } from "./overview_panels";
import {
  advicePanel,
  factCards,
  largestCommits,
  latestSentence,
  MEASURES,
  operationsByKind,
  storySentences,
} from "./overview_panels";
import { absoluteTime, count, cut, plural, relativeTime, visible } from "./text";
import { refreshButton } from "./toolbar";
import { describeVersion } from "./version_words";

export type OverviewHistory = History & Story;

const QUICK = 1_000; // ms
const CHART = 110; // px: here the picture of growth is the main thing

export function render({ model, el }: View) {
  const link = connect(model, el);
  let history!: OverviewHistory;
  let position = -1;
  let measure: Measure = "num_rows";
  let sizes: Sizes | null = null;

  const title = node("h3", {}, "Overview");
  const story = node("p", { class: "lx-story" });
  const cards = node("div", { class: "lx-cards" });
  const scaleLabel = node("span", { class: "lx-scale-label lx-quiet" });
  const times = node("div", { class: "lx-times lx-quiet" });
  const chosen = node("div", { class: "lx-chosen", role: "status" });
  const measures = choiceBar(
    "What grew",
    Object.entries(MEASURES).map(([name, { label }]) => [name, label]),
    (name) => {
      measure = name as Measure;
      if (history) drawGrowth();
    },
  );
  const strip = historyStrip(link.root, { onMove: choose, describe, chart: CHART });
  const disk = diskPanel(link.root, { onMove: (version) => link.setState({ version }), isWhole: false });
  const onDisk = panel("On disk", link.leadTo("disk", "Open Disk"), disk.element);
  const largest = largestCommits(choose);
  const kinds = operationsByKind(choose);
  const advice = advicePanel({ choose: (changes) => link.setState(changes), open: link.open, canOpen: link.canOpen });
  const nothing = node(
    "p",
    { class: "lx-note", hidden: true },
    "No version of the table can be read; see below what is wrong.",
  );
  const legend = node("div", { class: "lx-legend" });
  const growth = panel(
    "Growth",
    measures.element,
    node("div", { class: "lx-growth" }, scaleLabel, strip.element),
    times,
    legend,
    chosen,
  );
  const body = node(
    "div",
    { class: "lx-story-body" },
    onDisk,
    story,
    cards,
    growth,
    node("div", { class: "lx-columns" }, largest.element, kinds.element),
  );
  link.root.classList.add("lx-box", "lx-overview");
  link.root.append(
    node(
      "div",
      { class: "lx-overview-head" },
      title,
      refreshButton(link, () => load(true)),
    ),
    nothing,
    body,
    advice.element,
  );
  body.hidden = true;

  let took = 0; // ms, to find what is on disk and what is wrong

  /** Tell the story anew; `isStill`: what takes long to find is told when somebody asks for it. */
  async function load(refresh: boolean, isStill = false) {
    const atEnd = history?.count && position === history.count - 1;
    const isFirst = !history;
    if (isFirst && !link.offline) link.ask<Latest>("latest").then(showLatest);
    const content = await link.ask<HistoryContent & Story>("story", refresh ? { refresh } : {});
    if (!isFirst) sizes = await link.ask<Sizes>("sizes"); // until then all stays as it is
    history = unpackHistory(content, askWords(link));
    showName(history);
    nothing.hidden = history.count > 0;
    body.hidden = !history.count;
    if (history.count) {
      fill(story, ...storySentences(history, sizes, choose));
      fill(cards, ...factCards(history.facts, history));
      if (sizes) largest.setSizes(history, sizes);
      kinds.setHistory(history);
      const [first, last] = [history.timeAt(0), history.timeAt(history.count - 1)];
      fill(times, node("span", {}, absoluteTime(first)), history.count > 1 ? node("span", {}, absoluteTime(last)) : "");
      drawLegend();
      position = -1;
      drawGrowth();
      if (refresh && atEnd) choose(history.count - 1);
      else follow(link.state);
    }
    const begun = performance.now();
    const looksCloser = !isStill || took < QUICK;
    const looking = looksCloser && history.count ? showDisk() : null; // it stands first
    if (isFirst && history.count) await showSizes();
    link.root.dataset.loaded = String(history.count);
    if (!looksCloser) return;
    if (!isStill) advice.wait();
    await looking;
    advice.show(await link.ask<Advice>("advice"));
    took = performance.now() - begun;
  }

  function showName({ name, branch }: { name: string; branch: string | null }) {
    title.textContent = visible(name);
    if (branch !== null) title.append(node("span", { class: "lx-quiet" }, ` branch ${cut(branch, 40)}`));
  }

  /** Show what the latest version tells, while all of them are read. */
  function showLatest(latest: Latest) {
    if (history) return;
    showName(latest);
    if (!latest.facts) return;
    fill(story, latestSentence(latest.facts, latest.branch));
    fill(cards, ...factCards(latest.facts, null));
    scaleLabel.textContent = `reading ${plural(latest.num_listed, "version")}…`;
    body.hidden = false;
  }

  async function showSizes() {
    sizes = await link.ask<Sizes>("sizes");
    fill(story, ...storySentences(history, sizes, choose));
    largest.setSizes(history, sizes);
  }

  async function showDisk() {
    const from = history;
    disk.setDisk(await link.ask<DiskUsage>("disk"), from);
    disk.setPlans(await link.ask<Plans>("plans"));
  }

  /** The same pictures as in time travel, of what was chosen to look at. */
  function drawGrowth() {
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

  function drawLegend() {
    const entries = kindLegend(history);
    if (history.is_recorded.includes(1))
      entries.push(legendEntry(node("i", { class: "lx-swatch lx-pale" }), "pale: known from the ledger"));
    fill(legend, ...entries);
  }

  /** Show what the state says. */
  function follow(state: State) {
    if (!history?.count) return;
    const found = state.version === null ? history.count - 1 : history.positionOf(state.version);
    if (found === undefined) {
      position = -1;
      strip.show(history.count - 1);
      fill(
        chosen,
        node(
          "span",
          { class: "lx-quiet" },
          `Version ${count(state.version ?? "?")} is not among those that can be shown; Refresh looks for new ones`,
        ),
      );
      return;
    }
    if (found === position) return;
    position = found;
    strip.show(position);
    disk.show(history.versions[position]);
    largest.show(String(history.versions[position]));
    kinds.show(position);
    const time = history.timeAt(position);
    const version = String(history.versions[position]);
    const before = position > 0 ? String(history.versions[position - 1]) : version === "1" ? "0" : version;
    const travel = link.leadTo("time_travel", "Open in Time travel", { version });
    const changes = link.leadTo("changes", "What changed", { version, compared_version: before });
    fill(chosen, ...describeChosen(time), travel, changes);
  }

  function describeChosen(time: string | null) {
    return [
      node("strong", {}, `Version ${count(history.versions[position])}`),
      node(
        "span",
        { class: "lx-chip", title: `kind: ${history.kinds[history.kind[position]] ?? "other"}` },
        swatch(kindColor(history, history.kind[position])),
        visible(history.operationAt(position)),
      ),
      node(
        "span",
        { class: "lx-chosen-words" },
        history.wordsOf(position),
        history.messages[position]
          ? node("em", { class: "lx-quiet" }, ` “${visible(history.messages[position])}”`)
          : null,
      ),
      node("span", { class: "lx-quiet" }, time ? `${relativeTime(time)}, ${absoluteTime(time)}` : absoluteTime(time)),
    ];
  }

  function choose(target: number) {
    link.setState({ version: String(history.versions[target]) });
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

  link.on("versions", () => load(false, true));
  link.onState(follow);
  load(false);
  return () => {
    strip.close();
    disk.close();
    link.close();
  };
}
