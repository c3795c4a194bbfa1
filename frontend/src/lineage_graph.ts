// The view: the picture, the box for a row, and what is selected. Python lays out the versions in
// sight when the picture rests; until then what is here is moved and stretched.

import "./lineage_graph.css";
import { awaited } from "./awaited";
import { fill, node, strong } from "./elements";
import { type Commits, lineageCommits, timesInSight } from "./lineage_axis";
import { lineageBar } from "./lineage_bar";
import { type Layout, unpackLayout } from "./lineage_drawing";
import { eventsContent, selectedContent } from "./lineage_panes";
import { lineagePicture } from "./lineage_picture";
import { timeTitle } from "./lineage_places";
import { type Span, wantedLanes } from "./lineage_span";
import { describeInLineage, drawnWords, lineageLegend } from "./lineage_words";
import { connect } from "./link";
import type { Found, LayoutContent, LineageAbout, State } from "./messages";
import type { View } from "./model";
import { refreshButton } from "./toolbar";

const LINEAGE_REST = 110; // milliseconds

export function render({ model, el }: View) {
  const link = connect(model, el);
  let about!: LineageAbout;
  let commits!: Commits;
  let layout!: Layout;
  let asked: { span: Span | null } | null = null; // what the layout on its way is for
  let resting: number | undefined;
  let problem = "";

  const picture = lineagePicture(link.root, {
    onView: rest,
    onSelect: select,
    onVersion: (version) => link.setState({ version }),
    describe: describeInLineage,
  });
  const bar = lineageBar({
    onRow: findRow,
    onClear: () => link.setState({ row_id: null }),
    onZoom: (factor) => picture.zoom(factor),
    onFit: () => picture.fit(),
    refresh: refreshButton(link, () => open(true)),
  });
  const words = node("span", { class: "lx-lineage-words" });
  const legend = node("div", { class: "lx-legend" });
  const chosen = node("div", { class: "lx-pane", role: "status", hidden: true });
  const way = node("div", { class: "lx-pane lx-way", hidden: true });
  const help = node(
    "details",
    { class: "lx-help" },
    node("summary", {}, "keys and mouse"),
    "Drag, or use the arrow keys, to move. Zoom with + and −, with two fingers, or with the wheel after a click into the picture (or with Ctrl); 0 shows everything. Shift with ← → changes the version, Shift with ↑ ↓ selects a fragment in it, Escape selects none. A click above or below the lanes goes to that version.",
  );
  link.root.classList.add("lx-box", "lx-lineage-graph");
  link.root.append(
    bar.element,
    picture.element,
    node("div", { class: "lx-lineage-foot" }, words, help),
    legend,
    chosen,
    way,
  );
  const all = awaited(link.root);

  async function open(refresh: boolean) {
    about = await link.ask<LineageAbout>("open", refresh ? { refresh } : {});
    commits = lineageCommits(about);
    picture.setCommits(commits, about.begin, about.end);
    bar.setAbout(about);
    asked = null;
    await load(null);
    if (about.between) picture.show(...about.between);
  }

  /** Ask for the lanes of some versions, or of all. */
  async function load(span: Span | null) {
    asked = { span };
    const content = await link.ask<LayoutContent>("picture", { span });
    layout = unpackLayout(content);
    all.come();
    picture.setLayout(layout);
    picture.setVersion(link.state.version);
    showAll();
    refine();
  }

  function rest() {
    clearTimeout(resting);
    resting = setTimeout(() => {
      link.ask("look", { span: picture.isWhole() ? null : picture.span() });
      if (layout) showWords();
      refine();
    }, LINEAGE_REST);
  }

  /** Ask for other lanes if those in sight are not all here, or could be finer. */
  function refine() {
    if (!layout) return;
    const all: Span = [about.begin, about.end];
    const known = { has_rest: layout.has_rest, isWhole: picture.isWhole() };
    const span = wantedLanes(picture.span(), all, asked?.span ?? null, known);
    if (span !== undefined) load(span);
  }

  async function select(fragment: string | null, only = false) {
    await link.ask("select", { node: fragment, only });
    load(only || layout?.selected?.only ? null : (asked?.span ?? null));
  }

  async function findRow(text: string) {
    const answer = await link.ask<Found>("find", { text });
    problem = answer.problem ?? "";
    bar.tell(problem);
  }

  let drawn: { row?: string | null; fragment?: string | null } = {};
  function follow(state: State) {
    picture.setVersion(state.version);
    const needed = { row: state.row_id, fragment: state.fragment_id };
    const isOther = needed.row !== drawn.row || needed.fragment !== drawn.fragment;
    drawn = needed;
    if (isOther && asked) load(asked.span);
  }

  function showAll() {
    showWords();
    fill(legend, ...lineageLegend(layout));
    showChosen();
    showWay();
    bar.setRow(link.state.row_id);
    bar.tell(layout.row_problem ?? problem);
    problem = "";
  }

  /** Say how much there is, and how much of it is drawn. */
  function showWords() {
    const span = picture.span();
    const times = timesInSight(commits, ...span);
    const quiet = node("span", { class: "lx-quiet" }, times ? ` · times${timeTitle(...times)}` : "");
    fill(words, strong(drawnWords(layout, span)), quiet);
  }

  function showChosen() {
    const fragment = link.state.fragment_id;
    chosen.hidden = fragment === null;
    if (fragment !== null) fill(chosen, ...selectedContent(layout, fragment, select));
  }

  function showWay() {
    const { row } = layout;
    way.hidden = !row;
    if (row)
      fill(way, ...eventsContent(row, (version) => link.setState({ version })), link.leadTo("row", "Its values"));
  }

  link.on("between", ({ span }: { span: Span | null }) => (span ? picture.show(...span) : picture.fit()));
  link.onState(follow);
  open(false);
  return () => {
    clearTimeout(resting);
    picture.close();
    link.close();
  };
}
