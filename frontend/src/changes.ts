// The view: two versions on a time line, what differs between them in numbers, and the rows.

import "./changes.css";
import { changedValues } from "./changed_values";
import {
  barList,
  besideRows,
  classBars,
  columnBars,
  columnNote,
  contentCheck,
  keyChooser,
  rangeToolbar,
} from "./changes_panels";
import { askWords } from "./commit_words";
import { fill, node } from "./elements";
import type { History } from "./history";
import { unpackHistory } from "./history";
import { kindColor, legendEntry, swatch } from "./legend";
import { connect } from "./link";
import type { ChangedValues, Comparison, Found, HistoryContent, SameContent, State } from "./messages";
import type { View } from "./model";
import { rangeStrip } from "./range_strip";
import { rowTable } from "./rows";
import { absoluteTime, count, cut, duration, plural, visible } from "./text";
import { tooltip } from "./tooltip";
import { describeVersion, linesOf } from "./version_words";

/** Which rows to show: those of one class, those that differ in one column. */
interface Choice {
  change?: string | null;
  column?: string | null;
}

interface ChangesStory {
  key_columns: string[];
}

export function render({ model, el }: View) {
  const link = connect(model, el);
  let history!: History & ChangesStory;
  let about!: Comparison;
  let numTold = 0;

  const strip = rangeStrip(link.root, { onMove: moveTo, describe });
  const toolbar = rangeToolbar({ onFind: find, onPreset: preset, onRefresh: () => load(true) });
  const heading = node("div", { class: "lx-version-heading" });
  const commits = node("div", { class: "lx-legend" });
  const notes = node("div", { class: "lx-notes", role: "status" });
  const classes = barList({ name: "Rows by class", onPick: (change) => narrow({ change }) });
  const columns = barList({ name: "Rows by column", onPick: (column) => narrow({ column }) });
  const panels = node("div", { class: "lx-bar-lists" }, classes.element, columns.element);
  const values = changedValues(tooltip(link.root));
  const check = contentCheck({
    onAsk: (begin, end, onFailure) =>
      link.ask<SameContent>("same_content", { begin, end }, (problem, show) => {
        show(problem);
        onFailure();
      }),
  });
  const keys = keyChooser({ onKey: (key) => link.ask("key", { key }) });
  const beside = besideRows();
  const filters = node("div", { class: "lx-filters" });
  const rows = rowTable(link, 14);
  link.needsPython(toolbar.refresh);
  keys.element.hidden = Boolean(link.offline);
  link.root.classList.add("lx-box", "lx-changes", "lx-unread");
  link.root.append(
    toolbar.element,
    strip.element,
    heading,
    commits,
    notes,
    beside.element,
    check.element,
    panels,
    keys.element,
    values.element,
    filters,
    rows.element,
  );

  async function load(refresh: boolean) {
    const atEnd = history && link.state.version === String(history.versions[history.count - 1]);
    history = unpackHistory(
      await link.ask<HistoryContent & ChangesStory>("history", refresh ? { refresh } : {}),
      askWords(link),
    );
    link.root.classList.remove("lx-unread");
    toolbar.setHistory(history);
    keys.setColumns(history.key_columns);
    strip.setHistory(history);
    if (refresh && atEnd) link.setState({ version: String(history.versions[history.count - 1]) });
    else follow(link.state);
    const before = numTold;
    const found = await link.ask<Comparison>("comparison");
    if (numTold === before) take(found); // or what was told meanwhile is newer
  }

  /** Take in new versions: the comparison stays as it is. */
  async function renew() {
    history = unpackHistory(await link.ask<HistoryContent & ChangesStory>("history"), askWords(link));
    toolbar.setHistory(history);
    strip.setHistory(history);
    follow(link.state);
  }

  /** Both versions of the state, the earlier first. */
  function range(state: State = link.state): [string, string] {
    const latest = String(history.versions[history.count - 1]);
    const both = [state.compared_version ?? latest, state.version ?? latest];
    return BigInt(both[0]) <= BigInt(both[1]) ? [both[0], both[1]] : [both[1], both[0]];
  }

  function follow(state: State) {
    if (!history) return;
    const latest = String(history.versions[history.count - 1]);
    strip.show(state.compared_version ?? latest, state.version ?? latest);
    toolbar.show(...range(state));
    toolbar.tell("");
    showHeading();
    showStaleness();
    if (about) showFilters();
  }

  const lowest = () => (history.versions[0] === 1n ? -1 : 0);
  const versionName = (version: string) => (version === "0" ? "the empty table" : `version ${count(version)}`);
  const versionAt = (position: number) => (position < 0 ? "0" : String(history.versions[position]));
  const FIELDS = ["compared_version", "version"];

  function moveTo(which: number, position: number) {
    link.setState({ [FIELDS[which]]: versionAt(position) });
  }

  /** Set the version that was typed; the other one goes along where it would be on the wrong side. */
  function setEnd(name: "begin" | "end", version: string) {
    const [begin, end] = range();
    const isBegin = name === "begin";
    const isWrong = BigInt(version) > BigInt(end) ? isBegin : BigInt(version) < BigInt(begin) && !isBegin;
    const position = history.positionUpTo(version);
    const beside = isBegin ? Math.min(position + 1, history.count - 1) : Math.max(position - 1, lowest());
    const other = isWrong ? versionAt(beside) : isBegin ? end : begin;
    link.setState(isBegin ? { compared_version: version, version: other } : { compared_version: other, version });
    if (isWrong)
      toolbar.tell(
        isBegin
          ? `“to” was set to ${versionName(other)}, too: it cannot be before version ${count(version)}.`
          : `“From” was set to ${versionName(other)}, too: it cannot be after ${versionName(version)}.`,
      );
  }

  async function find(name: "begin" | "end", text: string) {
    const { version, problem } = await link.ask<Found>("find", { name, text });
    if (version === undefined) toolbar.tell(problem ?? "");
    else setEnd(name, version);
  }

  function preset(name: string) {
    if (!history.count) return;
    const [, end] = range();
    const position = Math.max(history.positionUpTo(end), 0);
    const first = history.versions[0] === 1n && history.count === 1 ? "0" : versionAt(0);
    if (name === "all") link.setState({ compared_version: first, version: versionAt(history.count - 1) });
    else link.setState({ compared_version: versionAt(Math.max(position - 1, lowest())), version: versionAt(position) });
  }

  function narrow(choice: Choice) {
    const { change, column } = { change: about.change, column: about.column, ...choice };
    link.ask("narrow", { change, column });
  }

  // --- what Python found

  function take(found: Comparison) {
    about = found;
    if (about.classes || about.problem) link.busy(null);
    keys.show(about.key);
    showHeading();
    showNotes();
    beside.show(about.beside, Boolean(about.classes) && !hasRows());
    showCheck();
    showPanels();
    showFilters();
    showStaleness();
    showValues();
  }

  let ofValues = ""; // which versions and key the values before and after are of

  async function showValues() {
    const { begin, end, key, cells, classes } = about;
    const wanted = JSON.stringify([begin, end, key]);
    if (!classes || !cells || ofValues === wanted) {
      if (ofValues !== wanted) values.show([]);
      return;
    }
    ofValues = wanted;
    const differs = cells.columns.some(({ num_rows }) => num_rows !== "0");
    const got = differs ? await link.ask<ChangedValues>("values", {}, () => {}) : null; // the rows tell what fails
    if (ofValues === wanted) values.show(got && got.begin === begin && got.end === end ? got.columns : []);
  }

  function showStaleness() {
    const [begin, end] = range();
    const isStale = !about || about.begin !== begin || about.end !== end || !(about.classes || about.problem);
    for (const part of [panels, notes, beside.element, values.element, rows.element])
      part.classList.toggle("lx-stale", isStale);
    link.root.dataset.shown = isStale ? "" : `${begin} ${end}`;
    link.root.dataset.cells = isStale || !about.cells ? "" : `${begin} ${end}`;
  }

  function showHeading() {
    const [begin, end] = range();
    const words = begin === end ? `${versionName(end)} with itself` : `${versionName(begin)} → ${versionName(end)}`;
    const times = [begin, end]
      .map((version) => history.positionOf(version))
      .map((p) => (p === undefined ? null : history.timeAt(p)));
    const apart = times[0] && times[1] && begin !== end ? `${duration([times[0], times[1]])} · ` : "";
    fill(
      heading,
      node("h3", {}, words[0].toUpperCase() + words.slice(1)),
      node("span", { class: "lx-quiet" }, apart, times[1] ? `until ${absoluteTime(times[1])}` : ""),
    );
    fill(commits, ...commitsBetween(begin, end));
  }

  /** The commits after one version and up to the other, by kind. */
  function commitsBetween(begin: string, end: string) {
    const kinds = new Map();
    let total = 0;
    for (let p = history.positionUpTo(begin) + 1; p <= history.positionUpTo(end); p += 1) {
      kinds.set(history.kind[p], (kinds.get(history.kind[p]) ?? 0) + 1);
      total += 1;
    }
    const entries = [...kinds]
      .sort(([a], [b]) => a - b)
      .map(([kind, number]) =>
        legendEntry(swatch(kindColor(history, kind)), `${count(number)} ${history.kinds[kind] ?? "other"}`),
      );
    return [
      node("span", { class: "lx-quiet" }, total ? `${plural(total, "commit")}:` : "no commits between"),
      ...entries,
    ];
  }

  function showNotes() {
    const { problem, lost, doubts, evidence, needs_key, left_out } = about;
    const children = [];
    if (problem)
      children.push(
        node(
          "div",
          { class: "lx-refusal", role: "alert" },
          node("strong", {}, `${visible(problem.title)}. `),
          cut(problem.message, 2000),
          " Choose other versions above, or another key.",
        ),
      );
    if (doubts) children.push(node("p", { class: "lx-doubt" }, visible(doubts)));
    if (lost) children.push(node("p", { class: "lx-doubt" }, visible(lost)));
    if (needs_key && !about.key.length) {
      const choose = link.needsPython(
        node("button", { class: "lx-button lx-small", onclick: () => keys.open() }, "Choose a key"),
      );
      children.push(
        node(
          "p",
          { class: "lx-doubt" },
          "This table has no stable row IDs: where nothing records which row replaced which, an update counts as one deleted and one inserted. A key matches them. ",
          choose,
        ),
      );
    }
    if (left_out?.length)
      children.push(
        node(
          "p",
          { class: "lx-doubt" },
          `Blobs may be large, and are neither shown nor compared here: ${cut(left_out.join(", "), 300)}.`,
        ),
      );
    if (evidence)
      children.push(
        node(
          "p",
          { class: "lx-quiet" },
          `How it is known: ${doubts ? "apart from what is uncertain, " : ""}${evidence}.`,
        ),
      );
    fill(notes, ...children);
  }

  /** Offer to compare all values where counts do not tell that some differ. */
  function showCheck() {
    const { begin, end, cells } = about;
    const rows = Object.fromEntries((about.classes ?? []).map(({ name, num_rows }) => [name, num_rows]));
    const differs = rows.inserted !== rows.deleted || cells?.columns.some(({ num_rows }) => num_rows !== "0");
    if (link.offline || !about.classes || !cells || differs || begin === "0" || begin === end) check.hide();
    else check.offer(begin, end);
  }

  function showPanels() {
    panels.hidden = !about.classes;
    if (!about.classes) return;
    const unchanged = about.unchanged === null ? "" : `${plural(about.unchanged, "row")} unchanged`;
    classes.show(classBars(about.classes, about.change), "Rows by what happened to them", unchanged);
    if (about.cells)
      columns.show(
        columnBars(about.cells, about.column),
        "Columns that differ in updated rows",
        columnNote(about.cells),
      );
    else columns.show([], "Columns that differ in updated rows", "comparing cells…");
  }

  function showFilters() {
    const chip = (name: string, text: string, choice: Choice) =>
      node(
        "button",
        {
          class: "lx-chip",
          title: "Show all again",
          "aria-label": `Show all again, not only ${text}`,
          onclick: () => narrow(choice),
        },
        `${name}: ${text}`,
        " ✕",
      );
    const chips = [];
    if (about.change) chips.push(chip("only", about.change.replace("_", " "), { change: null }));
    if (about.column) chips.push(chip("only where differs", cut(about.column, 60), { column: null }));
    const row = link.state.row_id;
    const follow = row === null ? null : link.leadTo("row", `Follow row ${count(row)}`);
    fill(filters, ...chips, node("span", { class: "lx-quiet" }, linesHint()), ...(follow ? [follow] : []));
  }

  /** Whether a row differs in any way, or may do so. */
  function hasRows() {
    return (about.classes ?? []).some(({ num_rows }) => num_rows !== "0");
  }

  /** What the lines below are; or, where there is none, what lists the rows that were not written. */
  function linesHint() {
    const has = (name: string) => about.classes?.some((one) => one.name === name && one.num_rows !== "0");
    const isEmpty = about.classes && !about.change && !["inserted", "deleted", "updated", "column_rewritten"].some(has);
    if (!isEmpty) return "Each row is a line; cells that changed show old → new.";
    const unwritten = ["moved", "column_added"].filter(has).map((name) => `“${name.replace("_", " ")}”`);
    return unwritten.length
      ? `No values changed. A click on ${unwritten.join(" or ")} lists those rows.`
      : about.beside.length
        ? "No row differs; what did change is listed above."
        : "No row differs, and nothing else: schema, indices and configuration are the same.";
  }

  function describe(p: number) {
    return p < 0 ? linesOf(["Version 0", "the empty table, before version 1"]) : describeVersion(history, p);
  }

  link.on("compared", (found: Comparison) => {
    numTold += 1;
    if (history) take(found); // or it is asked for once the versions are here
  });
  link.on("comparing", ({ text }: { text: string }) => link.busy(text));
  link.on("versions", renew);
  link.onState(follow);
  load(false);
  return () => {
    strip.close();
    link.close();
  };
}
