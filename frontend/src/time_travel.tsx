// The view: a slider over versions, and what the chosen one was. Everything that is drawn while the
// slider moves is here already; rows and details come from Python when it rests.

import "./time_travel.css";
import { batch, signal } from "@preact/signals";
import { askWords } from "./commit_words";
import { fragmentMap } from "./fragment_map";
import { historyOf } from "./history";
import { historyStrip } from "./history_strip";
import type { Details, TimeTravelQuestions } from "./messages";
import { Held, LeadTo, Note, view } from "./reactive";
import { rowTable } from "./rows";
import { count } from "./text";
import { TravelToolbar } from "./travel_toolbar";
import { VersionStory } from "./version_story";
import { VersionTabs } from "./version_tabs";
import { describeVersion } from "./version_words";
import { versionsOf } from "./versions";

const REST = 120; // milliseconds

export const render = view<TimeTravelQuestions>("lx-time-travel", ({ link, onClose, keep, follow, show, awaits }) => {
  const versions = versionsOf(link, (args) => link.ask("history", args));
  const { history, state, position, moveTo } = versions;
  const shown = signal(-1); // the position that is shown; it stays where the chosen version is none of these
  const problem = signal(""); // of what was asked in the bar
  const details = signal<Details | null>(null);
  const numRows = signal<{ total: number | null; problem?: string } | null>(null);
  const isMoving = signal({ rows: false, details: false });
  const hasRowIds = signal(false);
  let resting = 0;
  let asked = ""; // the version whose rows and details are here, or on their way

  const strip = keep(
    historyStrip(link.root, {
      onMove: moveTo,
      describe: (p) => history.value && describeVersion(history.value, p),
    }),
  );
  const map = keep(
    fragmentMap(link.root, {
      onSelect: (id) => link.setState({ fragment_id: id }),
      actions: (id) => (
        <LeadTo link={link} view="lineage" changes={{ fragment_id: id }}>
          Its lineage
        </LeadTo>
      ),
    }),
  );
  const rows = rowTable(link, 12, {
    onRow: (row) => link.ask("choose_row", { row }),
    waiting: "reading the rows…",
  });
  follow(() => {
    if (position.value >= 0) shown.value = position.value;
    problem.value = "";
  });
  show(history, strip.setHistory);
  show(history, map.setHistory);
  follow(() => {
    if (!history.value || shown.value < 0) return;
    strip.show(shown.value);
    map.show(shown.value, state.value.fragment_id);
  });
  follow(() => rows.markRow(hasRowIds.value ? state.value.row_id : null));

  /** Take in new versions: what is looked at stays as it is, also if it is not kept any more. */
  async function renew() {
    if (!history.value) {
      versions.load(false); // what was asked for first is overtaken
      return;
    }
    const newest = historyOf(await versions.ask(false), askWords(link));
    const found = newest.positionOf(versionShown());
    if (found === undefined)
      problem.value = `Version ${count(versionShown())} was cleaned up: what you see of it was read before`;
    else
      batch(() => {
        history.value = newest;
        shown.value = found;
      });
  }

  // Ask for what is not here once the slider rests.
  follow(() => {
    if (shown.value < 0) return;
    const version = versionShown();
    if (version === asked) return;
    asked = version;
    isMoving.value = { rows: true, details: true };
    clearTimeout(resting);
    resting = window.setTimeout(() => {
      askDetails(version);
      showRows(version);
    }, REST);
  });
  onClose(() => clearTimeout(resting));

  /** Go to the next commit in a direction: of one kind, or any. */
  function step(direction: number, kind: string) {
    const every = history.value;
    if (!every) return;
    for (let p = shown.value + direction; p >= 0 && p < every.count; p += direction) {
      if (!kind || every.kinds[every.kind[p]] === kind) {
        moveTo(p);
        return;
      }
    }
    problem.value = `No ${direction < 0 ? "earlier" : "later"} commit of the kind ${kind}`;
  }

  async function find(text: string) {
    const { version, problem: wrong } = await link.ask("find", { text });
    if (!version) problem.value = wrong ?? "";
    else link.setState({ version });
  }

  async function askDetails(version: string) {
    const found = await link.ask("details", { version });
    if (version !== versionShown()) return;
    details.value = found;
    isMoving.value = { ...isMoving.value, details: false };
  }

  async function showRows(version: string) {
    const total = history.value?.num_rows[shown.value] ?? Number.NaN;
    const answer = await link.ask("show_version", { version });
    hasRowIds.value = Boolean(answer.has_row_ids);
    if (version !== versionShown()) return;
    numRows.value = { total: Number.isNaN(total) ? null : total, problem: answer.problem ?? undefined };
    isMoving.value = { ...isMoving.value, rows: false };
  }

  /** The slider may move on while an answer is on its way. */
  function versionShown() {
    return String(history.value?.versions[shown.value]);
  }

  awaits(history);
  link.on("versions", renew);
  versions.load(false);

  return () => {
    const [every, now] = [history.value, shown.value];
    const { version } = state.value;
    const missing =
      every && position.value < 0
        ? `Version ${count(version ?? "?")} is not among the ${count(every.count)} that are shown; Refresh looks for new ones`
        : "";
    return (
      <>
        <div>
          <TravelToolbar
            link={link}
            history={every}
            position={now}
            onStep={step}
            onFind={find}
            onRefresh={() => versions.load(true)}
          />
          <Note>{problem.value || missing}</Note>
        </div>
        <Held element={strip.element} />
        {every && now >= 0 && <VersionStory link={link} history={every} position={now} />}
        <Held element={map.element} />
        <VersionTabs grid={rows.element} details={details.value} rows={numRows.value} isMoving={isMoving.value} />
      </>
    );
  };
});
