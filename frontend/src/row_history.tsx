// The view: a box for the row, its timeline, the values at the chosen event, and all events below.

import "./row_history.css";
import { signal } from "@preact/signals";
import { pieceOf } from "./cells";
import { KIND_COLORS } from "./kinds";
import { recordedChip, swatch } from "./legend";
import { lineageCommits } from "./lineage_axis";
import type {
  EventValue,
  EventValues,
  FollowedRow,
  RowHistoryQuestions as Questions,
  RowAbout,
  RowEvent,
} from "./messages";
import { AskExplorer, Held, LeadTo, Note, view } from "./reactive";
import { RowBox } from "./row_box";
import { rowTimeline } from "./row_timeline";
import { rowTable } from "./rows";
import { absoluteTime, addressText, count, cut, plural, visible } from "./text";
import { linesOf, Total } from "./version_words";

export const render = view<Questions>("lx-row-history", ({ model, link, onClose, keep, follow, awaits, show }) => {
  const about = signal<RowAbout | null>(null);
  const row = signal<FollowedRow | null>(null);
  const values = signal<EventValues[] | null>(null); // null while they are read
  const chosen = signal(-1); // the event
  const state = signal(link.state);
  const problem = signal("");
  let shownRow: string | null | undefined; // the row that the answer on its way is about

  const timeline = keep(rowTimeline(link.root, { onChoose: choose, describe: (event) => linesOf(event.words) }));
  const rows = rowTable(link, model.get("height"));
  const followHeight = () => rows.setHeight(model.get("height"));
  model.on("change:height", followHeight);
  onClose(() => model.off("change:height", followHeight));
  show(about, (newest) => timeline.setCommits(lineageCommits(newest)));
  show(row, ({ events }) => timeline.setEvents(events ?? []));
  follow(() => row.value && timeline.choose(chosen.value));
  follow(() => timeline.setVersion(state.value.version));
  awaits(about);

  async function load() {
    const answer = await link.ask("row");
    values.value = null;
    row.value = answer;
    problem.value = answer.problem ?? "";
    chosen.value = eventAt(answer.events ?? [], state.value.version);
    if (!answer.events?.length) return;
    const read = await link.ask("values");
    if (row.value !== answer) return; // another row is shown by now
    if (read.problem) problem.value = read.problem;
    values.value = read.values ?? null;
  }

  async function find(text: string) {
    const found = await link.ask("find", { text });
    if (found.problem) problem.value = found.problem;
  }

  async function step(direction: number) {
    problem.value = (await link.ask("step", { direction })).problem ?? "";
  }

  function choose(index: number) {
    chosen.value = index;
    link.setState({ version: row.value?.events?.[index].version ?? null });
  }

  link.onState((newest) => {
    state.value = newest;
    const events = row.value?.row_id === newest.row_id ? (row.value.events ?? []) : [];
    if (newest.version !== events[chosen.value]?.version) chosen.value = eventAt(events, newest.version);
    if (newest.row_id === shownRow) return;
    shownRow = newest.row_id;
    load();
  });
  link.ask("open").then((found) => {
    about.value = found;
  });

  const arrow = (text: string, title: string, direction: number) => (
    <button class="lx-button lx-square" title={title} aria-label={title} onClick={() => step(direction)}>
      {text}
    </button>
  );

  /** What a row can be called, and buttons that choose one. */
  function Nothing({ hasRowIds, key }: { hasRowIds: boolean; key: string }) {
    return (
      <div class="lx-quiet lx-row-nothing">
        <p>
          Type what the row has, such as <code>{visible(key)} = 42</code>, or go from row to row with the arrows. You
          see what happened to the row in each version, and its values then.
        </p>
        <div class="lx-row-examples">
          <button class="lx-button lx-small" onClick={() => step(1)}>
            First row
          </button>
          <button class="lx-button lx-small" onClick={() => step(-1)}>
            Last row
          </button>
          <LeadTo link={link} view="time_travel">
            Rows in Time travel
          </LeadTo>
        </div>
        <details>
          <summary>Advanced: {hasRowIds ? "row IDs and addresses" : "addresses"}</summary>
          <p>
            {hasRowIds ? (
              <>
                <code>42</code> is the row with that row ID (<code>_rowid</code>, not a value of a column);{" "}
              </>
            ) : (
              "This table has no stable row IDs: a row is named by an address that it had, its fragment and offset. "
            )}
            <code>3:17</code> is the row at offset 17 of fragment 3, <code>3:17@5</code> the one there in version 5.
          </p>
        </details>
      </div>
    );
  }

  function Event({ row: { row_id, num_events, events = [] }, at }: { row: FollowedRow; at: number }) {
    const event = events[at];
    const name = `Row ${count(row_id ?? "?")}`;
    const title = keyWords(about.value?.key ?? [], values.value?.[at]) || name;
    return (
      <>
        <div class="lx-version-heading">
          <h3>{title}</h3>
          {about.value?.has_row_ids === false ? (
            <span
              class="lx-quiet"
              title="This table has no stable row IDs: a row is named by an address that it once had"
            >
              named by the address {addressText(row_id ?? "0")}
            </span>
          ) : (
            title !== name && <span class="lx-quiet">{name.toLowerCase()}</span>
          )}
          <span class="lx-chip">
            {swatch(KIND_COLORS[event.kind])}
            {event.event}
          </span>
          <span>
            version {count(event.version)}, {visible(event.operation ?? "operation not known")}
          </span>
          <span class="lx-quiet">{event.time && absoluteTime(event.time)}</span>
          <span>{event.who ? `by ${cut(event.who, 60)}` : <span class="lx-quiet">who is not recorded</span>}</span>
          {event.message && <em class="lx-quiet">“{cut(event.message, 200)}”</em>}
          <span class="lx-quiet">{event.way}</span>
          <span class="lx-quiet">{event.known}</span>
          {event.is_recorded &&
            recordedChip("Hollow in the picture: the table does not keep this version any more, a ledger does")}
          {num_events > events.length && (
            <span class="lx-quiet">
              the last {count(events.length)} of {plural(num_events, "event")}
            </span>
          )}
          <LeadTo link={link} view="lineage">
            In the lineage
          </LeadTo>
          {at < events.length - 1 && (
            <AskExplorer link={link} question={`put row ${row_id} back as in ${event.version}`}>
              Put the row back as it was then
            </AskExplorer>
          )}
        </div>
        <div class="lx-row-values">
          {isBefore(state.value.version, event) && (
            <p class="lx-doubt">
              Version {count(state.value.version ?? "")} is before the first event that is known of this row.
            </p>
          )}
          {event.doubt && <p class="lx-doubt">{event.doubt}</p>}
          {valueLines(values.value?.[at], values.value === null)}
        </div>
      </>
    );
  }

  return () => {
    const [all, now] = [about.value, row.value];
    const isFollowed = Boolean(now?.events?.[chosen.value]);
    const hasRowIds = all?.has_row_ids ?? true;
    const key = all?.key[0] ?? "id";
    return (
      <>
        <div>
          <div class="lx-toolbar">
            {arrow("‹", "Previous row", -1)}
            <RowBox
              name="Show row"
              hasRowIds={hasRowIds}
              example={key}
              row={now?.row_id ?? null}
              onRow={find}
              onStep={step}
              after={arrow("›", "Next row", 1)}
            />
            <Total of={all} />
          </div>
          <Note>{problem.value && visible(problem.value)}</Note>
        </div>
        {(now ?? state.value).row_id === null && Nothing({ hasRowIds, key })}
        <Held element={timeline.element} />
        {now && isFollowed && <Event row={now} at={chosen.value} />}
        <div hidden={!values.value}>
          <Held element={rows.element} />
        </div>
      </>
    );
  };
});

/** The event that made a row what it is in a version: the last one up to it, or else the first one. */
export function eventAt(events: Pick<RowEvent, "version">[], version: string | null) {
  if (version === null) return events.length - 1;
  const later = events.findIndex((event) => isBefore(version, event));
  return later < 0 ? events.length - 1 : Math.max(later - 1, 0);
}

function isBefore(version: string | null, event: Pick<RowEvent, "version">) {
  return version !== null && BigInt(version) < BigInt(event.version);
}

/** What people call the row: the values of its key; nothing where these are not known. */
function keyWords(key: string[], values: EventValues | undefined) {
  const known = key.map((name) => values?.values.find((one) => one.name === name && !one.is_absent));
  if (!key.length || !known.every((one) => one && one.value !== null)) return "";
  return known.map((one) => cut(`${one?.name} ${one?.value}`, 60)).join(", ");
}

/** What the values were: those that changed first, with what they were before. */
function valueLines(event: EventValues | undefined, isWaiting: boolean) {
  if (isWaiting) return <p class="lx-quiet">reading the values…</p>;
  if (!event?.is_read)
    return (
      <p class="lx-quiet">
        The values are unknown: their files are missing or the version is known from a ledger alone, or there are too
        many events to read the values at each.
      </p>
    );
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
  return (
    <>
      {note && <p class="lx-quiet">{note}</p>}
      <div class="lx-value-grid" tabIndex={0} role="group" aria-label="Values">
        {sorted.map((one) => (
          <div
            class={["lx-value", one.changed && "lx-value-changed", event.is_end && !one.is_absent && "lx-value-removed"]
              .filter(Boolean)
              .join(" ")}
          >
            <span class="lx-value-name" title={cut(one.name, 500)}>
              {cut(one.name, 60)}
            </span>
            <span class="lx-value-text">{valueText(one)}</span>
          </div>
        ))}
      </div>
      {event.num_columns > event.values.length && (
        <p class="lx-quiet">
          {count(event.values.length)} of {plural(event.num_columns, "column")}; the table below can show all
        </p>
      )}
    </>
  );
}

function valueText({ value, piece, before, changed, is_absent, is_new }: EventValue) {
  if (is_absent) return <em class="lx-quiet">– not in this version</em>;
  const shown = piece ? pieceOf(piece, value) : textOf(value);
  if (!changed) return is_new ? [shown, <span class="lx-quiet"> (new column)</span>] : shown;
  return is_new ? (
    <>
      <ins>{textOf(value)}</ins>
      <span class="lx-quiet"> (new column)</span>
    </>
  ) : (
    <>
      <del>{textOf(before)}</del> → <ins>{shown}</ins>
    </>
  );
}

function textOf(shown: string | null | undefined) {
  return shown === null || shown === undefined ? <em class="lx-quiet">null</em> : visible(shown);
}
