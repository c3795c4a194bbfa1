// The view: a box for the row, its timeline, the values at the chosen event, and all events below.

import "./row_history.css";
import { awaited } from "./awaited";
import { pieceOf } from "./cells";
import { fill, node } from "./elements";
import { KIND_COLORS } from "./kinds";
import { recordedChip, swatch } from "./legend";
import { lineageCommits } from "./lineage_axis";
import { connect } from "./link";
import type { EventValue, EventValues, FollowedRow, Found, RowAbout, RowEvent, RowValues } from "./messages";
import type { View } from "./model";
import { rowBox } from "./row_box";
import { rowTimeline } from "./row_timeline";
import { rowTable } from "./rows";
import { absoluteTime, addressText, count, cut, plural, visible } from "./text";
import { toolbar } from "./toolbar";
import { linesOf, tableWords } from "./version_words";

export function render({ model, el }: View) {
  const link = connect(model, el);
  let row!: FollowedRow;
  let values: EventValues[] | null = null;
  let hasRowIds = true;
  let chosen = -1;
  let shownRow: string | null | undefined; // the row that the answer on its way is about

  const timeline = rowTimeline(link.root, {
    onChoose: choose,
    describe: (event) => linesOf(event.words),
  });
  const bar = historyBar({ onRow: find, onStep: step });
  const heading = node("div", { class: "lx-version-heading", hidden: true });
  const facts = node("div", { class: "lx-row-values", hidden: true });
  const nothing = node("div", { class: "lx-quiet lx-row-nothing", hidden: link.state.row_id !== null });
  const rows = rowTable(link, model.get("height"));
  const follow = () => rows.setHeight(model.get("height"));
  rows.element.hidden = true;
  link.root.classList.add("lx-box", "lx-row-history");
  link.root.append(bar.element, nothing, timeline.element, heading, facts, rows.element);
  const all = awaited(link.root);
  timeline.element.hidden = true;
  model.on("change:height", follow);

  async function open() {
    const about = await link.ask<RowAbout>("open");
    all.come();
    timeline.setCommits(lineageCommits(about));
    bar.setAbout(about);
    hasRowIds = about.has_row_ids;
    fill(
      nothing,
      ...waysToChoose({ hasRowIds, onStep: step, timeTravel: link.leadTo("time_travel", "Rows in Time travel") }),
    );
    showEvent();
  }

  async function load() {
    values = null;
    const answer = await link.ask<FollowedRow>("row");
    const events = answer.events ?? [];
    row = answer;
    bar.setRow(answer.row_id);
    bar.tell(answer.problem ?? "");
    nothing.hidden = answer.row_id !== null;
    rows.element.hidden = true; // it has another row's events, or none
    timeline.setEvents(events);
    chosen = events.length - 1;
    timeline.choose(chosen);
    showEvent();
    if (!events.length) return;
    const read = await link.ask<RowValues>("values");
    if (row !== answer) return; // another row is shown by now
    if (read.problem) bar.tell(read.problem);
    values = read.values ?? null;
    rows.element.hidden = !values;
    showEvent();
  }

  async function find(text: string) {
    const { problem } = await link.ask<Found>("find", { text });
    if (problem) bar.tell(problem);
  }

  async function step(direction: number) {
    const { problem } = await link.ask<Found>("step", { direction });
    bar.tell(problem ?? "");
  }

  function choose(index: number) {
    chosen = index;
    timeline.choose(index);
    showEvent();
    link.setState({ version: row.events?.[index].version ?? null });
  }

  function showEvent() {
    const events = row?.events ?? [];
    const event: RowEvent | undefined = events[chosen];
    heading.hidden = !event;
    facts.hidden = !event;
    if (!event) return;
    const more =
      row.num_events > events.length
        ? node("span", { class: "lx-quiet" }, `the last ${count(events.length)} of ${plural(row.num_events, "event")}`)
        : null;
    fill(
      heading,
      node("h3", {}, `Row ${count(row.row_id ?? "?")}`),
      ...(hasRowIds
        ? []
        : [
            node(
              "span",
              {
                class: "lx-quiet",
                title: "This table has no stable row IDs: a row is named by an address that it once had",
              },
              `named by the address ${addressText(row.row_id ?? "0")}`,
            ),
          ]),
      node("span", { class: "lx-chip" }, swatch(KIND_COLORS[event.kind]), event.event),
      node("span", {}, `version ${count(event.version)}, ${visible(event.operation ?? "operation not known")}`),
      node("span", { class: "lx-quiet" }, event.time ? absoluteTime(event.time) : ""),
      node("span", {}, event.way),
      node("span", { class: "lx-quiet" }, event.known),
      event.is_recorded
        ? recordedChip("Hollow in the picture: the table does not keep this version any more, a ledger does")
        : null,
      more,
      link.leadTo("lineage", "In the lineage"),
    );
    fill(
      facts,
      ...(event.doubt ? [node("p", { class: "lx-doubt" }, event.doubt)] : []),
      ...valueLines(values?.[chosen], values === null),
    );
  }

  link.onState((state) => {
    timeline.setVersion(state.version);
    const index = row?.events?.findIndex(({ version }) => version === state.version) ?? -1;
    if (index >= 0 && index !== chosen && row.row_id === state.row_id) {
      chosen = index;
      timeline.choose(index);
      showEvent();
    }
    if (state.row_id === shownRow) return;
    shownRow = state.row_id;
    load();
  });
  open();
  return () => {
    model.off("change:height", follow);
    timeline.close();
    link.close();
  };
}

/** What a row can be called, and buttons that choose one. */
function waysToChoose({
  hasRowIds,
  onStep,
  timeTravel,
}: {
  hasRowIds: boolean;
  onStep: (direction: number) => void;
  timeTravel: HTMLElement | null;
}) {
  const example = (text: string) => node("code", {}, text);
  const choose = (text: string, direction: number) =>
    node("button", { class: "lx-button lx-small", onclick: () => onStep(direction) }, text);
  const names = hasRowIds
    ? [example("42"), " is the row with that row ID (", example("_rowid"), ", not a value of a column); "]
    : ["This table has no stable row IDs: a row is named by an address that it had, its fragment and offset. "];
  return [
    node(
      "p",
      {},
      `Type ${hasRowIds ? "a row ID" : "an address"} above, or go from row to row with the arrows. You see what happened to the row in each version, and its values then.`,
    ),
    node(
      "p",
      {},
      ...names,
      example("3:17"),
      " is the row at offset 17 of fragment 3, ",
      example("3:17@5"),
      " the one there in version 5.",
    ),
    node(
      "div",
      { class: "lx-row-examples" },
      choose("First row", 1),
      choose("Last row", -1),
      ...(timeTravel ? [timeTravel] : []),
    ),
  ];
}

/** What the values were: those that changed first, with what they were before. */
function valueLines(event: EventValues | undefined, isWaiting: boolean) {
  if (isWaiting) return [node("p", { class: "lx-quiet" }, "reading the values…")];
  if (!event?.is_read)
    return [
      node(
        "p",
        { class: "lx-quiet" },
        "The values are unknown: their files are missing or the version is known from a ledger alone, or there are too many events to read the values at each.",
      ),
    ];
  const note = event.is_end
    ? "the values that it had"
    : event.is_compared
      ? event.values.some(({ changed }) => changed)
        ? ""
        : "no value changed"
      : "its values";
  const sorted = [...event.values].sort(
    (a, b) => Number(b.changed) - Number(a.changed) || Number(a.is_absent) - Number(b.is_absent),
  );
  const cells = sorted.map((one) =>
    node(
      "div",
      {
        class: ["lx-value", one.changed && "lx-value-changed", event.is_end && !one.is_absent && "lx-value-removed"]
          .filter(Boolean)
          .join(" "),
      },
      node("span", { class: "lx-value-name", title: cut(one.name, 500) }, cut(one.name, 60)),
      node("span", { class: "lx-value-text" }, ...valueText(one)),
    ),
  );
  const more =
    event.num_columns > event.values.length
      ? [
          node(
            "p",
            { class: "lx-quiet" },
            `${count(event.values.length)} of ${plural(event.num_columns, "column")}; the table below can show all`,
          ),
        ]
      : [];
  return [
    ...(note ? [node("p", { class: "lx-quiet" }, note)] : []),
    node("div", { class: "lx-value-grid", tabindex: "0", role: "group", "aria-label": "Values" }, ...cells),
    ...more,
  ];

  function valueText({ value, piece, before, changed, is_absent: isAbsent, is_new: isNew }: EventValue) {
    if (isAbsent) return [node("em", { class: "lx-quiet" }, "– not in this version")];
    if (isNew)
      return [node(changed ? "ins" : "span", {}, text(value)), node("span", { class: "lx-quiet" }, " (new column)")];
    const shown = piece ? pieceOf(piece, value) : [text(value)];
    return changed ? [node("del", {}, text(before)), " → ", node("ins", {}, ...shown)] : shown;
  }

  function text(shown: string | null | undefined) {
    return shown === null || shown === undefined ? node("em", { class: "lx-quiet" }, "null") : visible(shown);
  }
}

/** The bar on top: the box for the row, and the arrows to the next. */
function historyBar({ onRow, onStep }: { onRow: (text: string) => void; onStep: (direction: number) => void }) {
  const box = rowBox("Show row", { onRow, onStep });
  const total = node("span", { class: "lx-quiet lx-total" });
  const arrow = (text: string, title: string, direction: number) =>
    node(
      "button",
      { class: "lx-button lx-square", title, "aria-label": title, onclick: () => onStep(direction) },
      text,
    );
  const { element, tell } = toolbar(
    arrow("‹", "Previous row", -1),
    box.element,
    arrow("›", "Next row", 1),
    box.button,
    total,
  );
  return {
    element,
    tell,
    setAbout(about: RowAbout) {
      total.textContent = tableWords(about);
      box.setAbout(about);
    },
    setRow: box.setRow,
  };
}
