// The view: the picture, the box for a row, and what is selected. Python lays out the versions in
// sight when the picture rests; until then what is here is moved and stretched.

import "./lineage_graph.css";
import { signal } from "@preact/signals";
import { type Commits, lineageCommits, timesInSight } from "./lineage_axis";
import { LineageBar } from "./lineage_bar";
import { type Layout, layoutOf } from "./lineage_drawing";
import { eventsContent, selectedContent } from "./lineage_panes";
import { lineagePicture } from "./lineage_picture";
import { timeTitle } from "./lineage_places";
import { type Span, wantedLanes } from "./lineage_span";
import { describeInLineage, drawnWords, lineageLegend } from "./lineage_words";
import type { LineageAbout, LineageGraphQuestions } from "./messages";
import { Held, LeadTo, Note, view } from "./reactive";

const LINEAGE_REST = 110; // milliseconds

export const render = view<LineageGraphQuestions>("lx-lineage-graph", ({ link, onClose, keep, awaits }) => {
  const about = signal<LineageAbout | null>(null);
  const layout = signal<Layout | null>(null);
  const state = signal(link.state);
  const span = signal<Span>([0, 0]); // in sight
  const problem = signal("");
  let commits!: Commits;
  let asked: { span: Span | null } | null = null; // what the layout on its way is for
  let resting = 0;
  let drawn: { row?: string | null; fragment?: string | null } = {};

  const picture = keep(
    lineagePicture(link.root, {
      onView: rest,
      onSelect: select,
      onVersion: (version) => link.setState({ version }),
      describe: describeInLineage,
    }),
  );

  async function open(isRefresh: boolean) {
    const found = await link.ask("open", isRefresh ? { refresh: true } : {});
    about.value = found;
    commits = lineageCommits(found);
    picture.setCommits(commits, found.begin, found.end);
    asked = null;
    await load(null);
    if (found.between) picture.show(...found.between);
  }

  /** Ask for the lanes of some versions, or of all. */
  async function load(wanted: Span | null) {
    asked = { span: wanted };
    const newest = layoutOf(await link.ask("picture", { span: wanted }));
    picture.setLayout(newest);
    picture.setVersion(link.state.version);
    span.value = picture.span();
    layout.value = newest;
    refine();
  }

  function rest() {
    clearTimeout(resting);
    resting = window.setTimeout(() => {
      link.ask("look", { span: picture.isWhole() ? null : picture.span() });
      span.value = picture.span();
      refine();
    }, LINEAGE_REST);
  }
  onClose(() => clearTimeout(resting));

  /** Ask for other lanes if those in sight are not all here, or could be finer. */
  function refine() {
    if (!layout.value || !about.value) return;
    const all: Span = [about.value.begin, about.value.end];
    const known = { has_rest: layout.value.has_rest, isWhole: picture.isWhole() };
    const wanted = wantedLanes(picture.span(), all, asked?.span ?? null, known);
    if (wanted !== undefined) load(wanted);
  }

  async function select(fragment: string | null, only = false) {
    await link.ask("select", { node: fragment, only });
    load(only || layout.value?.selected?.only ? null : (asked?.span ?? null));
  }

  async function findRow(text: string) {
    problem.value = (await link.ask("find", { text })).problem ?? "";
  }

  link.on("between", ({ span }) => (span ? picture.show(...span) : picture.fit()));
  link.onState((newest) => {
    state.value = newest;
    picture.setVersion(newest.version);
    const needed = { row: newest.row_id, fragment: newest.fragment_id };
    if (needed.row !== drawn.row) problem.value = "";
    const isOther = needed.row !== drawn.row || needed.fragment !== drawn.fragment;
    drawn = needed;
    if (isOther && asked) load(asked.span);
  });
  awaits(layout);
  open(false);

  return () => {
    const [now, { row_id, fragment_id }] = [layout.value, state.value];
    const times = now && timesInSight(commits, ...span.value);
    return (
      <>
        <div>
          <LineageBar
            link={link}
            about={about.value}
            row={row_id}
            onRow={findRow}
            onZoom={picture.zoom}
            onFit={picture.fit}
            onRefresh={() => open(true)}
          />
          <Note>{problem.value || now?.row_problem}</Note>
        </div>
        <Held element={picture.element} />
        <div class="lx-lineage-foot">
          <span class="lx-lineage-words">
            <strong>{now && drawnWords(now, span.value)}</strong>
            <span class="lx-quiet">{times && ` · times${timeTitle(...times)}`}</span>
          </span>
          <details class="lx-help">
            <summary>keys and mouse</summary>
            Drag, or use the arrow keys, to move. Zoom with + and −, with two fingers, or with the wheel after a click
            into the picture (or with Ctrl); 0 shows everything. Shift with ← → changes the version, Shift with ↑ ↓
            selects a fragment in it, Escape selects none. A click above or below the lanes goes to that version.
          </details>
        </div>
        <div class="lx-legend">{now && lineageLegend(now)}</div>
        {now && fragment_id !== null && (
          <div class="lx-pane" role="status">
            {selectedContent(now, fragment_id, select)}
          </div>
        )}
        {now?.row && (
          <div class="lx-pane lx-way">
            {eventsContent(now.row, (version) => link.setState({ version }))}
            <LeadTo link={link} view="row">
              Its values
            </LeadTo>
          </div>
        )}
      </>
    );
  };
});
