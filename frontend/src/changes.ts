// The view: two versions on a time line, what differs between them in numbers, and the rows.

import "./changes.css";
import { awaited } from "./awaited";
import { changedValues } from "./changed_values";
import { comparisonNotes, rangeHead } from "./changes_head";
import { barList, besideRows, classBars, columnBars, columnNote, contentCheck, keyChooser } from "./changes_panels";
import { hasRows, linesHint, mayBeSame, ordered, presetRange, type Range, versionAt, withEnd } from "./changes_words";
import { askWords } from "./commit_words";
import { fill, node } from "./elements";
import type { History } from "./history";
import { unpackHistory } from "./history";
import { connect } from "./link";
import type { ChangedValues, Comparison, Found, HistoryContent, SameContent, State } from "./messages";
import type { View } from "./model";
import { rangeStrip } from "./range_strip";
import { rangeToolbar } from "./range_toolbar";
import { rowTable } from "./rows";
import { count, cut, plural } from "./text";
import { refreshButton } from "./toolbar";
import { tooltip } from "./tooltip";
import { describeVersion, linesOf } from "./version_words";

/** Which rows to show: those of one class, those that differ in one column. */
interface Choice {
  change?: string | null;
  column?: string | null;
}

const FIELDS = ["compared_version", "version"];

interface ChangesStory {
  key_columns: string[];
}

export function render({ model, el }: View) {
  const link = connect(model, el);
  let history!: History & ChangesStory;
  let about!: Comparison;
  let numTold = 0;

  const strip = rangeStrip(link.root, { onMove: moveTo, describe });
  const toolbar = rangeToolbar({ onFind: find, onPreset: preset, refresh: refreshButton(link, () => load(true)) });
  const head = rangeHead();
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
  keys.element.hidden = Boolean(link.offline);
  link.root.classList.add("lx-box", "lx-changes");
  link.root.append(
    toolbar.element,
    strip.element,
    ...head.elements,
    notes,
    beside.element,
    check.element,
    panels,
    keys.element,
    values.element,
    filters,
    rows.element,
  );
  const all = awaited(link.root);
  const compared = awaited(panels, notes, beside.element, values.element, rows.element);

  async function load(refresh: boolean) {
    const atEnd = history && link.state.version === String(history.versions[history.count - 1]);
    history = unpackHistory(
      await link.ask<HistoryContent & ChangesStory>("history", refresh ? { refresh } : {}),
      askWords(link),
    );
    all.come();
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
  function range(state: State = link.state) {
    const latest = String(history.versions[history.count - 1]);
    return ordered(state.compared_version ?? latest, state.version ?? latest);
  }

  function follow(state: State) {
    if (!history) return;
    const latest = String(history.versions[history.count - 1]);
    strip.show(state.compared_version ?? latest, state.version ?? latest);
    const { begin, end } = range(state);
    toolbar.show(begin, end);
    toolbar.tell("");
    head.show(history, { begin, end });
    showStaleness();
    if (about) showFilters();
  }

  function moveTo(which: number, position: number) {
    link.setState({ [FIELDS[which]]: versionAt(history, position) });
  }

  function setRange({ begin, end }: Range) {
    link.setState({ compared_version: begin, version: end });
  }

  async function find(name: "begin" | "end", text: string) {
    const { version, problem } = await link.ask<Found>("find", { name, text });
    if (version === undefined) {
      toolbar.tell(problem ?? "");
      return;
    }
    const { told, ...both } = withEnd(history, range(), name, version);
    setRange(both);
    if (told) toolbar.tell(told);
  }

  function preset(name: string) {
    if (history.count) setRange(presetRange(history, name, range().end));
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
    head.show(history, range());
    showNotes();
    beside.show(about.beside, Boolean(about.classes) && !hasRows(about));
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
    const { begin, end } = range();
    const isStale = !about || about.begin !== begin || about.end !== end || !(about.classes || about.problem);
    if (isStale) compared.wait();
    else compared.come();
    link.root.dataset.shown = isStale ? "" : `${begin} ${end}`;
    link.root.dataset.cells = isStale || !about.cells ? "" : `${begin} ${end}`;
  }

  function showNotes() {
    const choose = node("button", { class: "lx-button lx-small", onclick: () => keys.open() }, "Choose a key");
    fill(notes, ...comparisonNotes(about, link.needsPython(choose)));
  }

  /** Offer to compare all values where counts do not tell that some differ. */
  function showCheck() {
    const { begin, end } = about;
    if (link.offline || begin === "0" || begin === end || !mayBeSame(about)) check.hide();
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
    fill(filters, ...chips, node("span", { class: "lx-quiet" }, linesHint(about)), ...(follow ? [follow] : []));
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
