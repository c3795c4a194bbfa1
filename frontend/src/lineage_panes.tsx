// Below a lineage picture: the fragment that is selected, and the events of the row that is drawn.

import { KIND_COLORS } from "./kinds";
import { swatch } from "./legend";
import type { Layout } from "./lineage_drawing";
import type { LineageRow } from "./messages";
import { count, plural } from "./text";

/** A fragment that is selected: its facts, and how much came from it; also one that never existed. */
export function selectedContent(
  { selected, lanes }: Layout,
  fragment: string,
  onSelect: (fragment: string | null, only?: boolean) => void,
) {
  const clear = (
    <button class="lx-button lx-small" title="Select no fragment" onClick={() => onSelect(null)}>
      Clear
    </button>
  );
  if (!selected)
    return (
      <>
        <span>
          <strong>Fragment {count(fragment)}</strong> never existed in this table.
        </span>
        {clear}
      </>
    );
  const facts = selected.lane === null ? ["it has no lane of its own here"] : lanes[selected.lane].facts;
  return (
    <>
      <span>
        <strong>Fragment {count(selected.fragment_id)}</strong>
        {facts.map((fact) => ` · ${fact}`)}
        <br />
        <span class="lx-quiet">
          {plural(selected.num_ancestors, "fragment")} that its rows came from, {count(selected.num_descendants)} that
          they moved to
        </span>
      </span>
      <span class="lx-actions">
        <label class="lx-check">
          <input
            type="checkbox"
            checked={selected.only}
            onChange={({ currentTarget }) => onSelect(selected.node, currentTarget.checked)}
          />
          show only these
        </label>
        {clear}
      </span>
    </>
  );
}

/** The events of a row, each of which goes to its version. */
export function eventsContent({ row_id, events, num_events }: LineageRow, onVersion: (version: string) => void) {
  return (
    <>
      <span>
        <strong>Row {count(row_id)}</strong>
      </span>
      {events.map(({ version, event, kind, way, known }) => (
        <button class="lx-chip lx-event" title={`${way}\n${known}`} onClick={() => onVersion(version)}>
          {swatch(KIND_COLORS[kind])}
          {count(version)} {event}
        </button>
      ))}
      {num_events > events.length && (
        <span class="lx-quiet">
          {count(events.length)} of {plural(num_events, "event")}
        </span>
      )}
    </>
  );
}
