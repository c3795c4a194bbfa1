// The view: files of the chosen version in numbers and pictures, and all of them in a table.

import "./disk.css";
import { adviceList } from "./advice";
import { unpackArrays } from "./arrays";
import { awaited } from "./awaited";
import { choiceBar, panel } from "./cards";
import { askWords } from "./commit_words";
import { deletionsPicture, type Summary } from "./deletions_picture";
import { diskPanel } from "./disk_panel";
import { fill, node } from "./elements";
import type { ManifestHistory, ManifestParts } from "./file_panels";
import { manifestsPicture, totalCards } from "./file_panels";
import { unpackHistory } from "./history";
import { legendEntry, swatch } from "./legend";
import { connect } from "./link";
import type { Advice, DiskUsage, FilesStory, FilesSummary, Plans, State } from "./messages";
import type { View } from "./model";
import { rowTable } from "./rows";
import { LARGE_COLOR, SMALL_COLOR, sizeHistogram } from "./size_histogram";
import { absoluteTime, count, cut, relativeTime, visible } from "./text";
import { refreshButton } from "./toolbar";

const REST = 100; // milliseconds

const KIND_LABELS = { data_files: "data files", deletions: "deletion files", indices: "index segments" };

export function render({ model, el }: View) {
  const link = connect(model, el);
  let history!: ManifestHistory;
  let position = -1;
  let asked: string | null | undefined; // the version whose summary is here, or on its way
  let resting: number | undefined;

  const title = node("h3", { class: "lx-disk-title" }, "On disk");
  const heading = node("h3");
  const when = node("span", { class: "lx-quiet lx-disk-when" });
  const note = node("div", { class: "lx-note", role: "status", hidden: true });
  const advice = adviceList({ choose: (changes) => link.setState(changes), isOfVersion: true });
  const cards = node("div", { class: "lx-cards" });
  const sizes = sizeHistogram(link.root, {
    label: "number of data files by size",
    onChoose: filterBy,
  });
  const rows = sizeHistogram(link.root, { label: "number of fragments by rows" });
  const smallNote = node("div", { class: "lx-legend" });
  const deletions = deletionsPicture(link.root, { onSelect: (id) => link.setState({ fragment_id: id }) });
  const manifests = manifestsPicture(link.root, {
    onMove: moveTo,
    describeVersion,
  });
  const disk = diskPanel(link.root, { onMove: (version) => link.setState({ version }), isWhole: true });
  const kinds = choiceBar("Files in the table", Object.entries(KIND_LABELS), (kind) => link.ask("kind", { of: kind }));
  const table = rowTable(link, model.get("height"));
  const tableNote = node("div", { class: "lx-note", role: "status", hidden: true });
  const toDo = panel("What to do", null, advice.element);
  const about = node(
    "div",
    { class: "lx-disk-about" },
    toDo,
    cards,
    panel("How large they are", null, node("div", { class: "lx-figures" }, sizes.element, rows.element), smallNote),
    panel("Deleted rows that files still hold", null, deletions.element),
  );
  const files = panel("All files of the version", kinds.element, tableNote, table.element);
  const overVersions = panel("What manifests consist of", null, manifests.element);
  const shown = {
    about: awaited(about),
    toDo: awaited(toDo),
    files: awaited(files),
    overVersions: awaited(overVersions),
  };
  link.root.classList.add("lx-box", "lx-disk-view");
  link.root.append(
    node(
      "div",
      { class: "lx-version-heading" },
      title,
      refreshButton(link, () => load(true)),
    ),
    panel("On disk, with all versions", null, disk.element),
    node("div", { class: "lx-version-heading" }, heading, when),
    note,
    about,
    files,
    overVersions,
  );

  async function load(refresh: boolean) {
    const atEnd = history?.count && position === history.count - 1;
    history = unpackHistory<FilesStory, ManifestParts>(
      await link.ask("history", refresh ? { refresh } : {}),
      askWords(link),
    );
    shown.overVersions.come();
    manifests.setHistory(history);
    title.textContent = visible(history.name);
    if (refresh && atEnd) link.setState({ version: String(history.versions[history.count - 1]) });
    follow(link.state);
    link.root.dataset.loaded = String(history.count);
    const from = history;
    disk.setDisk(await link.ask<DiskUsage>("disk"), from);
    disk.setPlans(await link.ask<Plans>("plans"));
    link.root.dataset.disk = "shown";
  }

  /** Show what the state says; ask only if the version is another. */
  function follow(state: State) {
    if (history?.count) {
      position = state.version === null ? history.count - 1 : (history.positionOf(state.version) ?? -1);
      manifests.show(position, null);
      disk.show(history.versions[position]);
    }
    deletions.show(state.fragment_id);
    const moved = state.version !== asked;
    asked = state.version;
    showHeading();
    if (!moved) return;
    shown.about.wait();
    clearTimeout(resting);
    resting = setTimeout(() => {
      askSummary(state.version);
      askFiles();
    }, REST);
  }

  function showHeading() {
    heading.textContent =
      asked === null || asked === undefined ? "Files of the latest version" : `Files of version ${count(asked)}`;
    const time = position >= 0 ? history.timeAt(position) : null;
    when.textContent = time ? `${relativeTime(time)}, ${absoluteTime(time)}` : "";
  }

  async function askSummary(version: string | null) {
    const content = await link.ask<FilesSummary>("summary", { version });
    if (version !== asked) return; // another one is on its way
    shown.about.come();
    about.hidden = Boolean(content.failure);
    note.hidden = !content.failure;
    note.textContent = content.failure ? cut(content.failure, 500) : "";
    link.root.dataset.version = content.version;
    if (content.failure) return;
    showSummary({ ...content, ...unpackArrays(content) });
    const found = await link.ask<Advice>("advice", { version });
    if (version !== asked) return;
    shown.toDo.come();
    advice.show(found);
  }

  function showSummary(summary: Summary) {
    fill(cards, ...totalCards(summary.totals));
    sizes.show(summary.file_bins);
    rows.show(summary.row_bins);
    fill(
      smallNote,
      legendEntry(swatch(SMALL_COLOR), summary.small_words),
      legendEntry(swatch(LARGE_COLOR), summary.large_words),
    );
    deletions.setFragments(summary);
    deletions.show(link.state.fragment_id);
  }

  async function askFiles() {
    kinds.choose(model.get("kind"));
    const { failure } = await link.ask<{ failure?: string }>("files");
    shown.files.come();
    const told = failure ? cut(failure, 500) : "";
    tableNote.hidden = !told || told === note.textContent; // it is said above already
    tableNote.textContent = told;
  }

  /** Leave those files in the table that are of one size; a second click leaves all. */
  function filterBy({ begin, end }: { begin: number; end: number }) {
    const filter = `size_bytes >= ${begin} AND size_bytes < ${end}`;
    link.setState({ filter: link.state.filter === filter ? "" : filter });
    if (model.get("kind") !== "data_files") link.ask("kind", { of: "data_files" });
  }

  function moveTo(p: number) {
    link.setState({ version: String(history.versions[p]) });
  }

  function describeVersion(p: number) {
    return node(
      "div",
      {},
      node("strong", {}, `Version ${count(history.versions[p])} `),
      visible(history.operationAt(p)),
    );
  }

  const followHeight = () => table.setHeight(model.get("height"));
  model.on("change:kind", askFiles);
  model.on("change:height", followHeight);
  link.onState(follow);
  load(false);
  return () => {
    clearTimeout(resting);
    model.off("change:kind", askFiles);
    model.off("change:height", followHeight);
    for (const part of [disk, sizes, rows, deletions, manifests]) part.close();
    link.close();
  };
}
