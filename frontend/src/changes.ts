// The view: two versions on a time line, what differs between them in numbers, and the rows.

import "./changes.css";
import { awaited } from "./awaited";
import { changedValues } from "./changed_values";
import { comparisonBars, type RowChoice } from "./changes_bars";
import { comparisonNotes, rangeHead } from "./changes_head";
import { besideRows, choiceChips, contentCheck, keyChooser } from "./changes_panels";
import { hasRows, linesHint, ordered, presetRange, type Range, versionAt, withEnd } from "./changes_words";
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
import { count } from "./text";
import { refreshButton } from "./toolbar";
import { tooltip } from "./tooltip";
import { describeVersion, linesOf } from "./version_words";

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
  const bars = comparisonBars(narrow);
  const values = changedValues(
    tooltip(link.root),
    () => link.ask<ChangedValues>("values", {}, () => {}), // the rows tell what fails
  );
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
    bars.element,
    keys.element,
    values.element,
    filters,
    rows.element,
  );
  const all = awaited(link.root);
  const compared = awaited(bars.element, notes, beside.element, values.element, rows.element);

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
    if (!history) {
      load(false); // what was asked for first is overtaken
      return;
    }
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

  function narrow(choice: RowChoice) {
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
    if (!link.offline) check.follow(about);
    bars.show(about);
    showFilters();
    showStaleness();
    values.follow(about);
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

  function showFilters() {
    const row = link.state.row_id;
    fill(
      filters,
      ...choiceChips(about, narrow),
      node("span", { class: "lx-quiet" }, linesHint(about)),
      row === null ? null : link.leadTo("row", `Follow row ${count(row)}`),
    );
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
