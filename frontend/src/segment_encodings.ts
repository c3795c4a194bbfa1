// The view: what row IDs cost over versions, and how those of the chosen version are stored.

import "./segment_encodings.css";
import { adviceList } from "./advice";
import { unpackArrays } from "./arrays";
import { awaited } from "./awaited";
import { askWords } from "./commit_words";
import { fill, node } from "./elements";
import { growthPicture } from "./growth_picture";
import type { History } from "./history";
import { unpackHistory } from "./history";
import { kindLegend, legendEntry } from "./legend";
import { connect } from "./link";
import type {
  Advice,
  AgeArrays,
  EncodingsStory,
  EncodingsVersion,
  GrowthArrays,
  HistoryContent,
  Packed,
  SegmentMode,
  State,
} from "./messages";
import type { View } from "./model";
import { rowTable } from "./rows";
import { fragmentChoice, modeChoice, segmentLegend, statisticsTable } from "./segment_panels";
import { segmentRows } from "./segment_rows";
import { type SegmentArrays, unpackSegments } from "./segments";
import { count, cut } from "./text";
import { refreshButton } from "./toolbar";
import { sentenceList, versionHead } from "./version_head";

const REST = 100; // milliseconds

const NO_ROW_IDS =
  "This table has no stable row IDs: a row ID is the row's address, which takes no bytes and changes when the row moves. So there is nothing to encode. Stable row IDs are asked for when a table is made (enable_stable_row_ids=True in pylance).";

export function render({ model, el }: View) {
  const link = connect(model, el);
  let history!: History & EncodingsStory;
  let position = -1;
  let mode: SegmentMode = "position";
  let resting: number | undefined;
  let asked = ""; // for what was asked last

  const head = versionHead(refreshButton(link, () => load(true)));
  const growth = growthPicture(link.root, { onMove: moveTo, describeVersion: head.describe });
  const growthTitle = node(
    "h4",
    {},
    "Bytes per row ID, over versions; and when the rows of the chosen version were written",
  );
  const growthLegend = node("div", { class: "lx-legend" });
  const advice = adviceList({ choose: (changes) => link.setState(changes), isOfVersion: true });
  const words = sentenceList();
  const fragments = fragmentChoice((id) => link.setState({ fragment_id: id }));
  const modes = modeChoice(setMode);
  const segments = segmentRows(link.root, { onSelect: (id) => link.setState({ fragment_id: id }) });
  const legend = node("div", { class: "lx-legend" });
  const statistics = statisticsTable();
  const rows = rowTable(link, 10);
  const ofVersion = node(
    "div",
    { class: "lx-of-version" },
    advice.element,
    words.element,
    node("div", { class: "lx-toolbar" }, fragments.element, modes.element),
    segments.element,
    legend,
    statistics.element,
    node("h4", {}, "Segments"),
    rows.element,
  );
  const drawing = node("section", {}, growthTitle, growth.element, growthLegend);
  link.root.classList.add("lx-box", "lx-sheet", "lx-encodings");
  link.root.append(head.element, drawing, ofVersion);
  const [all, ofVersionShown] = [awaited(link.root), awaited(ofVersion)];

  async function load(isRefresh: boolean) {
    const atEnd = history && position === history.count - 1;
    history = unpackHistory(
      await link.ask<HistoryContent & EncodingsStory>("history", isRefresh ? { refresh: true } : {}),
      askWords(link),
    );
    all.come();
    head.setHistory(history);
    head.tell(history.has_row_ids ? "" : NO_ROW_IDS);
    for (const part of [drawing, ofVersion]) part.hidden = !history.has_row_ids;
    growth.setHistory(history);
    fill(
      growthLegend,
      legendEntry(node("i", { class: "lx-line-swatch", style: { background: history.growth_color } }), "now"),
      legendEntry(node("i", { class: "lx-line-swatch lx-dashed" }), "at best"),
      ...kindLegend(history),
    );
    position = -1;
    asked = "";
    if (isRefresh && atEnd) link.setState({ version: String(history.versions[history.count - 1]) });
    else follow(link.state);
    askGrowth();
  }

  async function askGrowth() {
    const found = await link.ask<Packed & { problem?: string }>("growth");
    growth.setGrowth(found.problem ? null : unpackArrays<GrowthArrays>(found));
    if (found.problem)
      growthTitle.textContent = `The size of row IDs over versions is unknown: ${cut(found.problem, 500)}`;
  }

  /** Show what the state says. */
  function follow(state: State) {
    if (!history) return;
    const version = state.version ?? String(history.versions[history.count - 1]);
    position = head.show(version);
    growth.show(position, null);
    const wanted = JSON.stringify([version, state.fragment_id, mode]);
    if (wanted === asked) return;
    asked = wanted;
    ofVersionShown.wait();
    clearTimeout(resting);
    resting = setTimeout(() => askVersion(version, state.fragment_id), REST);
  }

  async function askVersion(version: string, id: string | null) {
    const mine = asked;
    const found = await link.ask<EncodingsVersion>("version", { version, fragment: id, mode });
    if (mine !== asked) return;
    ofVersionShown.come();
    words.show(found.words ?? []);
    if (found.problem) advice.fail(`The row IDs of this version are unknown: ${found.problem}`);
    else askAdvice(version);
    const isThere = !found.problem && found.rows.length > 0;
    for (const part of [segments.element, legend, statistics.element, fragments.element, modes.element])
      part.hidden = !isThere;
    if (found.problem) {
      growth.setAges(null);
      segments.show(null);
    } else {
      const arrays = unpackArrays<AgeArrays & SegmentArrays>(found);
      growth.setAges(arrays);
      const one = found.is_one ? unpackSegments(found, arrays, "one_") : null;
      const all = unpackSegments(found, arrays);
      segments.show({
        segments: all,
        one,
        id: found.is_one ? id : null,
        mode: found.mode,
        colors: history.colors,
        version,
      });
      fill(legend, ...segmentLegend(found, all, history.colors));
      statistics.show(
        found.statistics,
        history.colors,
        found.is_one ? `fragment ${count(id ?? "?")}` : `version ${count(version)}`,
      );
      fragments.show(found, id);
    }
    modes.choose(mode);
    link.root.dataset.shown = `${version} ${id ?? ""} ${mode}`;
  }

  async function askAdvice(version: string) {
    const mine = asked;
    const found = await link.ask<Advice>("advice", { version });
    if (mine === asked) advice.show(found);
  }

  function setMode(name: SegmentMode) {
    mode = name;
    follow(link.state);
  }

  function moveTo(target: number) {
    link.setState({ version: String(history.versions[target]) });
  }

  link.onState(follow);
  load(false);
  return () => {
    clearTimeout(resting);
    growth.close();
    segments.close();
    link.close();
  };
}
