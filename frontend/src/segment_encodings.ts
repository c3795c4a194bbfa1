// The view: what row IDs cost over versions, and how those of the chosen version are stored.

import "./segment_encodings.css";
import { adviceList } from "./advice";
import { unpackArrays } from "./arrays";
import { awaited } from "./awaited";
import { askWords } from "./commit_words";
import { fill, node, setAttributes } from "./elements";
import { growthPicture } from "./growth_picture";
import type { History } from "./history";
import { unpackHistory } from "./history";
import { kindLegend, legendEntry, swatch } from "./legend";
import { connect } from "./link";
import type {
  Advice,
  AgeArrays,
  EncodingStatistics,
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
import { segmentRows } from "./segment_rows";
import { ENCODING_WORDS, type SegmentArrays, type Segments, unpackSegments } from "./segments";
import { bytes, count, cut, perRow, plural } from "./text";
import { refreshButton } from "./toolbar";
import { sentenceList, versionHead } from "./version_head";

const REST = 100; // milliseconds

const NO_ROW_IDS =
  "This table has no stable row IDs: a row ID is the row's address, which takes no bytes and changes when the row moves. So there is nothing to encode. Stable row IDs are asked for when a table is made (enable_stable_row_ids=True in pylance).";

const MODE_WORDS = { position: "by position", row_id: "by row ID" };

export function render({ model, el }: View) {
  const link = connect(model, el);
  let history!: History & EncodingsStory;
  let position = -1;
  let mode = "position";
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
  const fragment: HTMLSelectElement = node("select", {
    class: "lx-input",
    "aria-label": "Fragment",
    onchange: () => link.setState({ fragment_id: fragment.value || null }),
  });
  const modes = node(
    "span",
    { class: "lx-modes", role: "group", "aria-label": "Horizontal axis" },
    ...Object.entries(MODE_WORDS).map(([name, words]) =>
      node("button", { class: "lx-button", "data-mode": name, onclick: () => setMode(name as SegmentMode) }, words),
    ),
  );
  const segments = segmentRows(link.root, { onSelect: (id) => link.setState({ fragment_id: id }) });
  const legend = node("div", { class: "lx-legend" });
  const statistics = statisticsTable();
  const rows = rowTable(link, 10);
  const ofVersion = node(
    "div",
    { class: "lx-of-version" },
    advice.element,
    words.element,
    node("div", { class: "lx-toolbar" }, node("label", { class: "lx-quiet" }, "fragment ", fragment), modes),
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
    for (const part of [segments.element, legend, statistics.element, fragment.parentElement, modes])
      if (part) part.hidden = !isThere;
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
      showLegend(found, all);
      statistics.show(
        found.statistics,
        history.colors,
        found.is_one ? `fragment ${count(id ?? "?")}` : `version ${count(version)}`,
      );
      showChoices(found, id);
    }
    for (const button of modes.querySelectorAll("button"))
      setAttributes(button, { "aria-pressed": button.dataset.mode === mode });
    link.root.dataset.shown = `${version} ${id ?? ""} ${mode}`;
  }

  async function askAdvice(version: string) {
    const mine = asked;
    const found = await link.ask<Advice>("advice", { version });
    if (mine === asked) advice.show(found);
  }

  function showLegend(
    { rows: shown, num_fragments: fragments, is_one: isOne, mode: shownMode }: EncodingsVersion,
    { kinds, kind, bytes: sizes }: Segments,
  ) {
    const there = new Set(kind);
    const entries = kinds
      .filter((_, k) => there.has(k) || sizes.some((size, i) => size && i % kinds.length === k))
      .map((name) => legendEntry(swatch(history.colors[name]), ENCODING_WORDS(name)));
    const notes = ["darker: many segments in one place"];
    if (shownMode === "row_id") notes.push("fainter: few of the row IDs there");
    if (shown.length < fragments)
      notes.push(
        `${plural(fragments, "fragment")} in ${plural(shown.length, "row")}, up to ${count(Math.max(...shown.map(([, , number]) => number)))} each`,
      );
    if (isOne) notes.push("below: the chosen fragment alone");
    fill(legend, ...entries, node("span", { class: "lx-quiet" }, notes.join("; ")));
  }

  function showChoices({ choices, num_fragments: fragments, is_one: isOne }: EncodingsVersion, id: string | null) {
    const cutOff =
      choices.length < fragments ? ` (${count(choices.length)} of ${count(fragments)} to choose from)` : "";
    fill(
      fragment,
      node("option", { value: "" }, `all${cutOff}`),
      ...choices.map((choice) => node("option", { value: choice }, count(choice))),
    );
    fragment.value = isOne && id ? id : "";
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

/** The encodings in numbers: `element`, `show(statistics, colors, what)`. */
function statisticsTable() {
  const caption = node("caption");
  const body = node("tbody");
  const heads = ["encoding", "segments", "of one row", "row IDs", "bytes", "bytes each"];
  const element = node(
    "div",
    { class: "lx-scroll" },
    node(
      "table",
      { class: "lx-statistics" },
      caption,
      node(
        "thead",
        {},
        node("tr", {}, ...heads.map((head, i) => node("th", { scope: "col", class: i ? "lx-number" : null }, head))),
      ),
      body,
    ),
  );
  return {
    element,
    show(statistics: EncodingStatistics[], colors: Record<string, string>, what: string) {
      caption.textContent = `Encodings of ${what}`;
      const number = (text: string) => node("td", { class: "lx-number" }, text);
      fill(
        body,
        ...statistics.map((row) =>
          node(
            "tr",
            {},
            node("td", {}, legendEntry(swatch(colors[row.encoding]), ENCODING_WORDS(row.encoding))),
            number(count(row.count)),
            number(count(row.one_row)),
            number(count(row.num_values)),
            number(row.bytes === null ? "unknown" : bytes(row.bytes)),
            number(row.bytes_per_row === null ? "unknown" : perRow(row.bytes_per_row)),
          ),
        ),
      );
    },
  };
}
