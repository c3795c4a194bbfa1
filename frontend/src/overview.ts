// The view: the story of the table. What the latest version tells is shown while all versions are
// read; what made it big, what is on disk and what to do come after them, each when it is known.

import "./overview.css";
import { panel } from "./cards";
import { askWords } from "./commit_words";
import { diskPanel } from "./disk_panel";
import { fill, node } from "./elements";
import { unpackHistory } from "./history";
import { connect } from "./link";
import type { Advice, DiskUsage, HistoryContent, Latest, Plans, Sizes, State, Story } from "./messages";
import type { View } from "./model";
import { growthPanel } from "./overview_growth";
import {
  advicePanel,
  factCards,
  largestCommits,
  latestSentence,
  type OverviewHistory,
  operationsByKind,
  storySentences,
} from "./overview_panels";
import { cut, visible } from "./text";
import { refreshButton } from "./toolbar";

const QUICK = 1_000; // ms

export function render({ model, el }: View) {
  const link = connect(model, el);
  let history!: OverviewHistory;
  let position = -1;
  let sizes: Sizes | null = null;

  const title = node("h3", {}, "Overview");
  const story = node("p", { class: "lx-story" });
  const cards = node("div", { class: "lx-cards" });
  const growth = growthPanel(link, { onMove: choose });
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
  const body = node(
    "div",
    { class: "lx-story-body" },
    onDisk,
    story,
    cards,
    growth.element,
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
      growth.setHistory(history);
      position = -1;
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
    growth.wait(latest.num_listed);
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

  /** Show what the state says. */
  function follow(state: State) {
    if (!history?.count) return;
    const found = state.version === null ? history.count - 1 : (history.positionOf(state.version) ?? -1);
    if (found < 0) growth.miss(state.version ?? "?");
    else if (found !== position) {
      growth.show(found);
      disk.show(history.versions[found]);
      largest.show(String(history.versions[found]));
      kinds.show(found);
    }
    position = found;
  }

  function choose(target: number) {
    link.setState({ version: String(history.versions[target]) });
  }

  link.on("versions", () => load(false, true));
  link.onState(follow);
  load(false);
  return () => {
    growth.close();
    disk.close();
    link.close();
  };
}
