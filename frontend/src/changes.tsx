// The view: two versions on a time line, what differs between them in numbers, and the rows.

import "./changes.css";
import { computed, signal } from "@preact/signals";
import { changedValues } from "./changed_values";
import { ComparisonBars, type RowChoice } from "./changes_bars";
import { comparisonNotes, rangeHead } from "./changes_head";
import { besideRows, ContentCheck, choiceChips, KeyChooser } from "./changes_panels";
import { hasRows, linesHint, mayBeSame, ordered, presetRange, type Range, versionAt, withEnd } from "./changes_words";
import type { ChangedValues, ChangesQuestions, Comparison } from "./messages";
import { rangeStrip } from "./range_strip";
import { RangeToolbar } from "./range_toolbar";
import { Held, LeadTo, Note, needing, placeClass, set, view } from "./reactive";
import { rowTable } from "./rows";
import { count } from "./text";
import { tooltip } from "./tooltip";
import { describeVersion, linesOf } from "./version_words";
import { versionsOf } from "./versions";

/** What the two handles choose. */
const FIELDS = ["compared_version", "version"];

export const render = view<ChangesQuestions>("lx-changes", ({ link, keep, follow, show, awaits }) => {
  const versions = versionsOf(link, (args) => link.ask("history", args));
  const { history, state } = versions;
  const about = signal<Comparison | null>(null);
  const values = signal<ChangedValues | null>(null);
  const problem = signal(""); // of what was asked in the bar
  const choosesKey = signal(false);
  const hasCome = signal(false); // something was compared
  let valuesOf = ""; // which versions and key the values are of
  let numTold = 0;

  /** Both versions of the state, as they were chosen. */
  const ends = computed(() => {
    const latest = String(history.value?.versions[history.value.count - 1]);
    return [state.value.compared_version ?? latest, state.value.version ?? latest];
  });
  const range = computed(() => (history.value ? ordered(ends.value[0], ends.value[1]) : null));
  const isStale = computed(() => {
    const { begin, end, classes, problem } = about.value ?? {};
    return begin !== range.value?.begin || end !== range.value?.end || !(classes || problem);
  });

  const tip = tooltip(link.root);
  const rows = rowTable(link, 14);
  const strip = keep(
    rangeStrip(link.root, {
      onMove: (which, p) => history.value && link.setState({ [FIELDS[which]]: versionAt(history.value, p) }),
      describe: (p) =>
        p < 0
          ? linesOf(["Version 0", "the empty table, before version 1"])
          : history.value && describeVersion(history.value, p),
    }),
  );
  show(history, strip.setHistory);
  follow(() => {
    if (!history.value) return;
    strip.show(ends.value[0], ends.value[1]);
    problem.value = "";
  });
  follow(() => {
    hasCome.value ||= !isStale.value;
    const shown = isStale.value ? "" : `${about.value?.begin} ${about.value?.end}`;
    link.root.dataset.shown = shown;
    link.root.dataset.cells = about.value?.cells ? shown : "";
  });

  async function load(isRefresh: boolean) {
    await versions.load(isRefresh);
    const before = numTold;
    const found = await link.ask("comparison");
    if (numTold === before) take(found); // or what was told meanwhile is newer
  }

  function take(found: Comparison) {
    about.value = found;
    if (found.classes || found.problem) link.busy(null);
    askValues(found);
  }

  async function askValues({ begin, end, key, cells, classes }: Comparison) {
    const wanted = JSON.stringify([begin, end, key]);
    if (valuesOf === wanted) return;
    if (!classes || !cells) {
      values.value = null;
      return;
    }
    valuesOf = wanted;
    const got = await link.ask("values", {}, () => {}); // the rows tell what fails
    if (valuesOf === wanted) values.value = got?.begin === begin && got.end === end ? got : null;
  }

  function setRange({ begin, end }: Range) {
    link.setState({ compared_version: begin, version: end });
  }

  async function find(name: keyof Range, text: string) {
    const { version, problem: wrong } = await link.ask("find", { name, text });
    if (!version || !history.value || !range.value) {
      problem.value = wrong ?? "";
      return;
    }
    const { told, ...both } = withEnd(history.value, range.value, name, version);
    setRange(both);
    problem.value = told;
  }

  function preset(name: string) {
    if (history.value?.count && range.value) setRange(presetRange(history.value, name, range.value.end));
  }

  function narrow(choice: RowChoice) {
    link.ask("narrow", { change: about.value?.change ?? null, column: about.value?.column ?? null, ...choice });
  }

  awaits(history);
  link.on("compared", (found) => {
    numTold += 1;
    if (history.value) take(found); // or it is asked for once the versions are here
  });
  link.on("comparing", ({ text }) => link.busy(text));
  // Of new versions, the comparison stays as it is.
  link.on("versions", () => (history.value ? versions.load(false) : load(false)));
  load(false);

  const chooseKey = (
    <button class="lx-button lx-small" onClick={() => set(choosesKey, true)} {...needing(link)}>
      Choose a key
    </button>
  );

  return () => {
    const [every, found, { row_id: row }] = [history.value, about.value, state.value];
    const compared = (style = "") => placeClass(style, hasCome.value, isStale.value);
    return (
      <>
        <div>
          <RangeToolbar
            link={link}
            history={every}
            range={range.value}
            onFind={find}
            onPreset={preset}
            onRefresh={() => load(true)}
          />
          <Note>{problem.value}</Note>
        </div>
        <Held element={strip.element} />
        {every && range.value && rangeHead(every, range.value)}
        <div class={compared("lx-notes")} role="status">
          {found && comparisonNotes(found, chooseKey)}
        </div>
        {found &&
          found.beside.length > 0 &&
          besideRows(compared("lx-beside"), found.beside, Boolean(found.classes) && !hasRows(found))}
        {found && !link.offline && found.begin !== "0" && found.begin !== found.end && mayBeSame(found) && (
          <ContentCheck key={`${found.begin} ${found.end}`} link={link} begin={found.begin} end={found.end} />
        )}
        <div class={compared("lx-bar-lists")} hidden={found !== null && !found.classes}>
          {found?.classes && <ComparisonBars about={found} onPick={narrow} />}
        </div>
        {!link.offline && (
          <KeyChooser
            names={every?.key_columns ?? []}
            chosen={found?.key ?? []}
            isOpen={choosesKey}
            onKey={(key) => link.ask("key", { key })}
          />
        )}
        {changedValues(compared("lx-changed-values"), values.value, tip, link)}
        <div class="lx-filters">
          {found && choiceChips(found, narrow)}
          <span class="lx-quiet">{found && linesHint(found)}</span>
          {row !== null && (
            <LeadTo link={link} view="row">
              Follow row {count(row)}
            </LeadTo>
          )}
        </div>
        <div class={compared()}>
          <Held element={rows.element} />
        </div>
      </>
    );
  };
});
