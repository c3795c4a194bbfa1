// The view: a slider over versions, and what the chosen one was. Everything that is drawn while the
// slider moves is here already; rows and details come from Python when it rests.

import "./time_travel.css";
import { awaited } from "./awaited";
import { askWords } from "./commit_words";
import { fragmentMap } from "./fragment_map";
import type { History } from "./history";
import { unpackHistory } from "./history";
import { historyStrip } from "./history_strip";
import { connect } from "./link";
import type { Details, Found, HistoryContent, ShownVersion, State } from "./messages";
import type { View } from "./model";
import { rowTable } from "./rows";
import { count } from "./text";
import { refreshButton } from "./toolbar";
import { travelToolbar } from "./travel_toolbar";
import { versionStory } from "./version_story";
import { versionTabs } from "./version_tabs";
import { describeVersion } from "./version_words";

const REST = 120; // milliseconds

export function render({ model, el }: View) {
  const link = connect(model, el);
  let history!: History;
  let position = -1;
  let resting: number | undefined;

  const strip = historyStrip(link.root, { onMove: moveTo, describe: (p) => describeVersion(history, p) });
  const map = fragmentMap(link.root, {
    onSelect: (id) => link.setState({ fragment_id: id }),
    actions: (id) => [link.leadTo("lineage", "Its lineage", { fragment_id: id })],
  });
  const rows = rowTable(link, 12, {
    onRow: (row) => link.ask("choose_row", { row }),
    waiting: "reading the rows…",
  });
  const tabs = versionTabs(rows.element);
  let hasRowIds = false;
  const toolbar = travelToolbar({ onStep: step, onFind: find, refresh: refreshButton(link, () => load(true)) });
  const story = versionStory(link);
  link.root.classList.add("lx-box", "lx-time-travel");
  link.root.append(toolbar.element, strip.element, ...story.elements, map.element, tabs.element);
  const all = awaited(link.root);

  async function load(refresh: boolean) {
    const atEnd = history && position === history.count - 1;
    const content = await link.ask<HistoryContent>("history", refresh ? { refresh } : {});
    history = unpackHistory(content, askWords(link));
    all.come();
    toolbar.setHistory(history);
    story.setHistory(history);
    strip.setHistory(history);
    map.setHistory(history);
    position = -1;
    if (refresh && atEnd) link.setState({ version: String(history.versions[history.count - 1]) });
    else follow(link.state);
  }

  /** Take in new versions: what is looked at stays as it is, also if it is not kept any more. */
  async function renew() {
    if (!history) {
      load(false); // what was asked for first is overtaken
      return;
    }
    const newest = unpackHistory(await link.ask<HistoryContent>("history"), askWords(link));
    const shown = position >= 0 ? versionShown() : (link.state.version ?? "");
    const found = newest.positionOf(shown);
    if (found === undefined) {
      toolbar.tell(`Version ${count(shown)} was cleaned up: what you see of it was read before`);
      return;
    }
    history = newest;
    position = found;
    toolbar.setHistory(history);
    strip.setHistory(history);
    story.setHistory(history);
    map.setHistory(history);
    strip.show(position);
    toolbar.show(position);
    map.show(position, link.state.fragment_id);
  }

  /** Show what the state says. */
  function follow(state: State) {
    if (!history) return;
    const found = state.version === null ? history.count - 1 : history.positionOf(state.version);
    toolbar.tell(
      found === undefined
        ? `Version ${count(state.version ?? "?")} is not among the ${count(history.count)} that are shown; Refresh looks for new ones`
        : "",
    );
    if (found === undefined) return;
    const moved = found !== position;
    position = found;
    map.show(position, state.fragment_id);
    rows.markRow(hasRowIds ? state.row_id : null);
    if (!moved) return;
    strip.show(position);
    toolbar.show(position);
    story.show(position);
    tabs.wait();
    clearTimeout(resting);
    resting = setTimeout(() => {
      askDetails();
      showRows();
    }, REST);
  }

  function moveTo(target: number) {
    link.setState({ version: String(history.versions[target]) });
  }

  /** Go to the next commit in a direction: of one kind, or any. */
  function step(direction: number, kind: string) {
    for (let p = position + direction; p >= 0 && p < history.count; p += direction) {
      if (!kind || history.kinds[history.kind[p]] === kind) {
        moveTo(p);
        return;
      }
    }
    toolbar.tell(`No ${direction < 0 ? "earlier" : "later"} commit of the kind ${kind}`);
  }

  async function find(text: string) {
    const { version, problem } = await link.ask<Found>("find", { text });
    if (version === undefined) toolbar.tell(problem ?? "");
    else link.setState({ version });
  }

  async function askDetails() {
    const version = versionShown();
    const details = await link.ask<Details>("details", { version });
    if (version === versionShown()) tabs.showDetails(details);
  }

  async function showRows() {
    const version = versionShown();
    const total = history.num_rows[position];
    const { problem, has_row_ids } = await link.ask<ShownVersion>("show_version", { version });
    hasRowIds = Boolean(has_row_ids);
    rows.markRow(hasRowIds ? link.state.row_id : null);
    if (version === versionShown()) tabs.showRows(Number.isNaN(total) ? null : total, problem);
  }

  /** The slider may move on while an answer is on its way. */
  function versionShown() {
    return String(history.versions[position]);
  }

  link.on("versions", renew);
  link.onState(follow);
  load(false);
  return () => {
    clearTimeout(resting);
    strip.close();
    map.close();
    link.close();
  };
}
