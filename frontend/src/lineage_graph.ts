// The view: the picture, the box for a row, and what is selected. Python lays out the versions in
// sight when the picture rests; until then what is here is moved and stretched.

import "./lineage_graph.css";
import { fill, node, strong } from "./elements";
import { KIND_COLORS } from "./kinds";
import { swatch } from "./legend";
import type { Commits } from "./lineage_axis";
import { lineageCommits, timesInSight } from "./lineage_axis";
import type { Layout } from "./lineage_drawing";
import { isRest, unpackLayout } from "./lineage_drawing";
import { lineagePicture } from "./lineage_picture";
import { timeTitle } from "./lineage_places";
import { describeInLineage, lineageLegend, noteWords } from "./lineage_words";
import { connect } from "./link";
import type { Found, LayoutContent, LineageAbout, State } from "./messages";
import type { View } from "./model";
import { count, plural, visible } from "./text";
import { tableWords } from "./version_words";

const LINEAGE_REST = 110; // milliseconds

/** The first and the last version in sight. */
type Span = [number, number];

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
    onRefresh: () => open(true),
  });
  const words = node("span", { class: "lx-lineage-words" });
  const legend = node("div", { class: "lx-legend" });
  const chosen = node("div", { class: "lx-pane", role: "status", hidden: true });
  const way = node("div", { class: "lx-pane lx-way", hidden: true });
  const help = node(
    "details",
    { class: "lx-help" },
    node("summary", {}, "keys and mouse"),
    "Drag, or use the arrow keys, to move. Zoom with + and −, or with the wheel after a click into the picture (or with Ctrl); 0 shows everything. Shift with ← → changes the version, Shift with ↑ ↓ selects a fragment in it, Escape selects none. A click above or below the lanes goes to that version.",
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
    const [begin, end] = picture.span();
    const wide = end - begin + 1;
    const margin = Math.ceil(wide / 2);
    const span: Span = [Math.max(about.begin, begin - margin), Math.min(about.end, end + margin)];
    const isAll = span[0] <= about.begin && span[1] >= about.end;
    const here = asked?.span ?? [about.begin, about.end];
    const isMissing = here[0] > begin || here[1] < end;
    const isCoarse = layout.has_rest && here[1] - here[0] + 1 > 1.5 * (span[1] - span[0] + 1);
    const isNarrow = isAll && asked?.span && picture.isWhole();
    if (isMissing || isCoarse || isNarrow) load(isAll ? null : span);
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
    const [begin, end] = picture.span();
    const lanes = layout.lanes.filter(
      (lane, i) => !isRest(lane) && layout.lane_x0[i] <= end && layout.lane_x1[i] >= begin,
    ).length;
    const ribbons = layout.ribbon_x0.length;
    const parts = layout.has_rest
      ? [
          noteWords(
            layout.lanes.length - 1,
            layout.num_fragments,
            ribbons,
            layout.num_ribbons,
            layout.begin,
            layout.end,
          ),
          "zoom in to see more",
        ]
      : [noteWords(lanes, lanes, ribbons, layout.num_ribbons, begin, end)];
    const times = timesInSight(commits, begin, end);
    const quiet = node("span", { class: "lx-quiet" }, times ? ` · times${timeTitle(...times)}` : "");
    fill(words, strong(parts.join(" · ")), quiet);
  }

  function showChosen() {
    const { selected } = layout;
    const fragment = link.state.fragment_id;
    chosen.hidden = fragment === null;
    if (fragment === null) return;
    if (!selected) {
      fill(
        chosen,
        node("span", {}, strong(`Fragment ${count(fragment)}`), " never existed in this table."),
        clearButton(),
      );
      return;
    }
    const lane = selected.lane === null ? null : layout.lanes[selected.lane];
    const facts = lane ? lane.facts : ["it has no lane of its own here"];
    const only = node(
      "label",
      { class: "lx-check" },
      node("input", {
        type: "checkbox",
        checked: selected.only,
        onchange: (event) => select(selected.node, (event.target as HTMLInputElement).checked),
      }),
      "show only these",
    );
    fill(
      chosen,
      node(
        "span",
        {},
        strong(`Fragment ${count(selected.fragment_id)}`),
        facts.map((fact) => ` · ${fact}`).join(""),
        node("br"),
        node(
          "span",
          { class: "lx-quiet" },
          `${plural(selected.num_ancestors, "fragment")} that its rows came from, ${count(selected.num_descendants)} that they moved to`,
        ),
      ),
      node("span", { class: "lx-actions" }, only, clearButton()),
    );
  }

  function clearButton() {
    return node(
      "button",
      { class: "lx-button lx-small", title: "Select no fragment", onclick: () => select(null) },
      "Clear",
    );
  }

  /** Tell the events of the row, each of which goes to its version. */
  function showWay() {
    const { row } = layout;
    way.hidden = !row;
    if (!row) return;
    const chips = row.events.map((event) =>
      node(
        "button",
        {
          class: "lx-chip lx-event",
          title: `${event.way}\n${event.known}`,
          onclick: () => link.setState({ version: event.version }),
        },
        swatch(KIND_COLORS[event.kind]),
        `${count(event.version)} ${event.event}`,
      ),
    );
    const more =
      row.num_events > row.events.length
        ? node("span", { class: "lx-quiet" }, `${count(row.events.length)} of ${plural(row.num_events, "event")}`)
        : null;
    fill(way, node("span", {}, strong(`Row ${count(row.row_id)}`)), ...chips, more, link.leadTo("row", "Its values"));
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

/** The bar above the picture: the box for a row, and what moves the picture. */
function lineageBar({
  onRow,
  onClear,
  onZoom,
  onFit,
  onRefresh,
}: {
  onRow: (text: string) => void;
  onClear: () => void;
  onZoom: (factor: number) => void;
  onFit: () => void;
  onRefresh: () => void;
}) {
  const box = node("input", {
    class: "lx-input lx-row-box",
    type: "text",
    "aria-label": "Row ID, or address as fragment:offset",
    placeholder: "row ID, or address 3:17",
    spellcheck: "false",
    maxlength: 100,
  });
  const clear = node(
    "button",
    {
      class: "lx-button",
      title: "Draw no row",
      hidden: true,
      onclick: () => {
        box.value = "";
        onClear();
      },
    },
    "Clear row",
  );
  const total = node("span", { class: "lx-quiet lx-lineage-total" });
  const message = node("div", { class: "lx-note", role: "alert", hidden: true });
  box.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter" && box.value.trim()) onRow(box.value);
  });
  const button = (text: string, title: string, onclick: () => void) =>
    node("button", { class: "lx-button lx-square", title, "aria-label": title, onclick }, text);
  return {
    element: node(
      "div",
      {},
      node(
        "div",
        { class: "lx-toolbar" },
        box,
        node("button", { class: "lx-button", onclick: () => box.value.trim() && onRow(box.value) }, "Follow row"),
        clear,
        total,
        node(
          "span",
          { class: "lx-lineage-zoom" },
          button("−", "Zoom out", () => onZoom(1 / 1.6)),
          button("+", "Zoom in", () => onZoom(1.6)),
          node("button", { class: "lx-button", title: "See everything", onclick: onFit }, "Fit"),
          node("button", { class: "lx-button", title: "Look for new versions", onclick: onRefresh }, "Refresh"),
        ),
      ),
      message,
    ),
    setAbout(about: LineageAbout) {
      total.textContent = tableWords(about);
      box.placeholder = about.has_row_ids ? "row ID, or address 3:17" : "address, such as 3:17";
    },
    setRow(row: string | null) {
      clear.hidden = row === null;
      if (row !== null && document.activeElement !== box) box.value = row;
    },
    tell(text: string) {
      message.hidden = !text;
      message.textContent = visible(text);
    },
  };
}
