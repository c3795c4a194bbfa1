// The view: files of the chosen version in numbers and pictures, and all of them in a table.

import "./disk.css";
import { batch, signal } from "@preact/signals";
import { AdviceList } from "./advice";
import { Choices, Panel } from "./cards";
import { deletionsPicture, type Summary } from "./deletions_picture";
import { DiskPanel } from "./disk_panel";
import { manifestsPicture, totalCards } from "./file_panels";
import { legendEntry, swatch } from "./legend";
import type { Advice, DiskQuestions, DiskUsage, Plans, Problem } from "./messages";
import { Held, Note, placeClass, Refresh, view } from "./reactive";
import { rowTable } from "./rows";
import { LARGE_COLOR, SMALL_COLOR, sizeHistogram } from "./size_histogram";
import { absoluteTime, count, cut, relativeTime, visible } from "./text";
import { versionsOf } from "./versions";

const REST = 100; // milliseconds

const KIND_LABELS = { data_files: "data files", deletions: "deletion files", indices: "index segments" };

export const render = view<DiskQuestions>("lx-disk-view", ({ model, link, onClose, keep, follow, show }) => {
  const { root } = link;
  const { history, state, position, moveTo, ...versions } = versionsOf(link, (args) => link.ask("history", args));
  const usage = signal<DiskUsage | Problem | null>(null);
  const plans = signal<Plans["plans"] | null>(null);
  const kind = signal(model.get("kind") as keyof typeof KIND_LABELS);
  const summary = signal<Summary | null>(null);
  const advice = signal<Advice | null>(null);
  const failure = signal(""); // of the summary
  const fileFailure = signal<string | null>(null); // null until the files are here
  const isMoving = signal(true); // what is shown is of another version
  let resting = 0;
  let asked: string | null | undefined; // the version whose summary is here, or on its way

  async function load(isRefresh: boolean) {
    const newest = await versions.load(isRefresh);
    root.dataset.loaded = String(newest.count);
    usage.value = await link.ask("disk");
    plans.value = (await link.ask("plans")).plans;
    root.dataset.disk = "shown";
  }

  // Ask only if the version is another.
  follow(() => {
    const { version } = state.value;
    if (version === asked) return;
    asked = version;
    isMoving.value = true;
    clearTimeout(resting);
    resting = window.setTimeout(() => {
      askSummary(version);
      askFiles();
    }, REST);
  });

  async function askSummary(of: string | null) {
    const content = await link.ask("summary", { version: of });
    if (of !== asked) return; // another one is on its way
    batch(() => {
      isMoving.value = false;
      failure.value = "problem" in content ? cut(content.problem, 500) : "";
      if (!("problem" in content)) summary.value = content;
    });
    if ("problem" in content) return;
    root.dataset.version = content.version;
    const found = await link.ask("advice", { version: of });
    if (of === asked) advice.value = found;
  }

  async function askFiles() {
    kind.value = model.get("kind") as keyof typeof KIND_LABELS;
    const { problem } = await link.ask("files");
    fileFailure.value = problem ? cut(problem, 500) : "";
  }

  /** Leave those files in the table that are of one size; a second click leaves all. */
  function filterBy({ begin, end }: { begin: number; end: number }) {
    const filter = `size_bytes >= ${begin} AND size_bytes < ${end}`;
    link.setState({ filter: link.state.filter === filter ? "" : filter });
    if (model.get("kind") !== "data_files") link.ask("kind", { of: "data_files" });
  }

  const sizes = keep(sizeHistogram(root, { label: "number of data files by size", onChoose: filterBy }));
  const rows = keep(sizeHistogram(root, { label: "number of fragments by rows" }));
  const deletions = keep(deletionsPicture(root, { onSelect: (id) => link.setState({ fragment_id: id }) }));
  follow(() => {
    if (!summary.value) return;
    sizes.show(summary.value.file_bins);
    rows.show(summary.value.row_bins);
    deletions.setFragments(summary.value);
    deletions.show(state.peek().fragment_id);
  });
  follow(() => deletions.show(state.value.fragment_id));
  const manifests = keep(
    manifestsPicture(root, {
      onMove: moveTo,
      describeVersion: (p) => (
        <div>
          <strong>Version {count(history.value?.versions[p] ?? 0)} </strong>
          {visible(history.value?.operationAt(p))}
        </div>
      ),
    }),
  );
  show(history, manifests.setHistory);
  follow(() => {
    if (history.value?.count) manifests.show(position.value, null);
  });
  const table = rowTable(link, model.get("height"));
  const followHeight = () => table.setHeight(model.get("height"));
  model.on("change:kind", askFiles);
  model.on("change:height", followHeight);
  onClose(() => {
    clearTimeout(resting);
    model.off("change:kind", askFiles);
    model.off("change:height", followHeight);
  });
  load(false);

  return () => {
    const [every, now] = [history.value, position.value];
    const [shown, time] = [summary.value, every?.timeAt(now)];
    const problem = fileFailure.value !== failure.value && fileFailure.value; // or it is said above already
    return (
      <>
        <div class="lx-version-heading">
          <h3 class="lx-disk-title">{every ? visible(every.name) : "On disk"}</h3>
          <Refresh link={link} onClick={() => load(true)} />
        </div>
        <Panel title="On disk, with all versions">
          <DiskPanel
            root={root}
            usage={usage.value}
            plans={plans.value}
            history={every}
            version={every?.versions[now]}
            onMove={moveTo}
            isWhole
          />
        </Panel>
        <div class="lx-version-heading">
          <h3>
            {state.value.version === null
              ? "Files of the latest version"
              : `Files of version ${count(state.value.version)}`}
          </h3>
          <span class="lx-quiet lx-disk-when">{time && `${relativeTime(time)}, ${absoluteTime(time)}`}</span>
        </div>
        <Note role="status">{failure.value}</Note>
        <div class={placeClass("lx-disk-about", shown !== null, isMoving.value)} hidden={failure.value !== ""}>
          <Panel title="What to do" isWaiting={!advice.value}>
            <AdviceList advice={advice.value} link={link} choose={link.setState} isOfVersion />
          </Panel>
          <div class="lx-cards">{shown && totalCards(shown.totals)}</div>
          <Panel title="How large they are">
            <div class="lx-figures">
              <Held element={sizes.element} />
              <Held element={rows.element} />
            </div>
            <div class="lx-legend">
              {shown && legendEntry(swatch(SMALL_COLOR), shown.small_words)}
              {shown && legendEntry(swatch(LARGE_COLOR), shown.large_words)}
            </div>
          </Panel>
          <Panel title="Deleted rows that files still hold">
            <Held element={deletions.element} />
          </Panel>
        </div>
        <Panel
          title="All files of the version"
          isWaiting={fileFailure.value === null}
          beside={
            <Choices
              label="Files in the table"
              of={KIND_LABELS}
              chosen={kind}
              onChoose={(of) => link.ask("kind", { of })}
            />
          }
        >
          <Note role="status">{problem}</Note>
          <Held element={table.element} />
        </Panel>
        <Panel title="What manifests consist of" isWaiting={!every}>
          <Held element={manifests.element} />
        </Panel>
      </>
    );
  };
});
