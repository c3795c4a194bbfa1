// The view: the indices of the chosen version, and what one of them covered in all versions.

import "./indices.css";
import { adviceList } from "./advice";
import { awaited } from "./awaited";
import { askWords } from "./commit_words";
import { fill, node } from "./elements";
import { unpackHistory } from "./history";
import { COVERAGE_WORDS, unpackLives } from "./index_lives";
import { indexCards, reusePanel } from "./index_panels";
import type { IndicesHistory } from "./index_picture";
import { indexPicture } from "./index_picture";
import { kindLegend, legendEntry } from "./legend";
import { connect } from "./link";
import type { Changes, IndicesStory, LineArrays, LivesContent, State, VersionIndices } from "./messages";
import type { View } from "./model";
import { count, cut, plural } from "./text";
import { refreshButton } from "./toolbar";
import { versionHead } from "./version_head";

const REST = 100; // milliseconds

export function render({ model, el }: View) {
  const link = connect(model, el);
  let history!: IndicesHistory;
  let facts: VersionIndices | null = null;
  let index: string | null = null;
  let position = -1;
  let resting: number | undefined;

  const head = versionHead(refreshButton(link, () => load(true)));
  const advice = adviceList();
  const cards = indexCards({ onChoose: choose });
  const more = node("p", { class: "lx-quiet", hidden: true });
  const title = node("h4");
  const picture = indexPicture(link.root, { onMove: moveTo, describeVersion: head.describe });
  const legend = node("div", { class: "lx-legend" });
  const kinds = node("div", { class: "lx-legend" });
  const reuse = reusePanel();
  const drawing = node("section", {}, title, picture.element, legend, kinds);
  const told = node("div", { class: "lx-of-version" }, advice.element, cards.element, more);
  link.root.classList.add("lx-box", "lx-sheet", "lx-indices");
  link.root.append(head.element, told, drawing, reuse.element);
  const [all, ofVersion, ofIndex] = [awaited(link.root), awaited(told, reuse.element), awaited(legend)];

  async function load(isRefresh: boolean) {
    const atEnd = history && position === history.count - 1;
    history = unpackHistory<IndicesStory, LineArrays>(
      await link.ask("history", isRefresh ? { refresh: true } : {}),
      askWords(link),
    );
    all.come();
    head.setHistory(history);
    head.tell(history.problem ? `What indices covered over versions is unknown: ${cut(history.problem, 500)}` : "");
    picture.setHistory(history);
    fill(kinds, node("span", { class: "lx-quiet" }, "commits:"), ...kindLegend(history));
    index = history.index;
    position = -1;
    facts = null;
    drawing.hidden = index === null;
    if (isRefresh && atEnd) link.setState({ version: String(history.versions[history.count - 1]) });
    else follow(link.state);
    draw();
  }

  async function draw() {
    if (index === null) return;
    fill(title, "What ", node("code", {}, cut(index, 80)), " covers, by fragment over versions");
    picture.setLives(unpackLives(await link.ask<LivesContent>("lives", { index })));
    link.root.dataset.index = index;
    ofIndex.come();
    show();
  }

  function choose(name: string) {
    if (name === index) return;
    index = name;
    link.ask("choose", { index });
    cards.show(facts?.indices ?? [], index);
    draw();
  }

  /** Show what the state says. */
  function follow(state: State) {
    if (!history) return;
    const before = position;
    position = head.show(state.version ?? String(history.versions[history.count - 1]));
    show();
    if (position === before && facts) return;
    ofVersion.wait();
    clearTimeout(resting);
    if (position >= 0) resting = setTimeout(askFacts, REST);
  }

  function show() {
    picture.show(position, link.state.fragment_id);
    const counts = position < 0 ? [] : picture.countsAt(position);
    const entries = counts.map(([name, number]) =>
      legendEntry(
        node("i", { class: `lx-swatch lx-coverage-${name}` }),
        `${COVERAGE_WORDS[name]}: ${plural(number, "fragment")}`,
      ),
    );
    const words = picture.note();
    const here = node(
      "span",
      { class: "lx-quiet" },
      position < 0 ? "" : `version ${count(history.versions[position])}:`,
    );
    fill(legend, here, ...entries, words ? node("span", { class: "lx-quiet" }, words) : "");
  }

  async function askFacts() {
    if (position < 0) return;
    const version = String(history.versions[position]);
    const found = await link.ask<VersionIndices>("version", { version });
    if (position < 0 || version !== String(history.versions[position])) return;
    facts = found;
    ofVersion.come();
    if (facts.problem) {
      advice.fail(`What the indices of this version cover is unknown: ${facts.problem}`);
      facts = { ...facts, indices: [], num_indices: 0, reuse: [] };
    } else {
      advice.show(facts.advice);
    }
    cards.show(facts.indices, index);
    more.hidden = facts.num_indices === facts.indices.length;
    more.textContent = `${count(facts.indices.length)} of ${plural(facts.num_indices, "index", "indices")}`;
    reuse.show(facts);
    link.root.dataset.shown = version;
  }

  function moveTo(target: number, id: string | null | undefined) {
    const changes: Changes = { version: String(history.versions[target]) };
    if (id !== undefined) changes.fragment_id = id;
    link.setState(changes);
  }

  link.on("index", ({ name }: { name: string }) => {
    if (history && facts) choose(name);
    else index = name;
  });
  link.onState(follow);
  load(false);
  return () => {
    clearTimeout(resting);
    picture.close();
    link.close();
  };
}
