// Below a lineage picture: the fragment that is selected, and the events of the row that is drawn.

import { node, strong } from "./elements";
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
  const clear = node(
    "button",
    { class: "lx-button lx-small", title: "Select no fragment", onclick: () => onSelect(null) },
    "Clear",
  );
  if (!selected)
    return [node("span", {}, strong(`Fragment ${count(fragment)}`), " never existed in this table."), clear];
  const facts = selected.lane === null ? ["it has no lane of its own here"] : lanes[selected.lane].facts;
  const only = node(
    "label",
    { class: "lx-check" },
    node("input", {
      type: "checkbox",
      checked: selected.only,
      onchange: (event) => onSelect(selected.node, (event.target as HTMLInputElement).checked),
    }),
    "show only these",
  );
  return [
    node(
      "span",
      {},
      strong(`Fragment ${count(selected.fragment_id)}`),
      facts.map((fact) => ` · ${fact}`).join(""),
      node("br"),
      node(
        "span",
        { class: "lx-quiet" },
        `${plural(selected.num_ancestors, "fragment")} that its rows came from, ${count(selected.num_descendants)} that they moved to`,
      ),
    ),
    node("span", { class: "lx-actions" }, only, clear),
  ];
}

/** The events of a row, each of which goes to its version. */
export function eventsContent({ row_id, events, num_events }: LineageRow, onVersion: (version: string) => void) {
  const chips = events.map(({ version, event, kind, way, known }) =>
    node(
      "button",
      { class: "lx-chip lx-event", title: `${way}\n${known}`, onclick: () => onVersion(version) },
      swatch(KIND_COLORS[kind]),
      `${count(version)} ${event}`,
    ),
  );
  const more =
    num_events > events.length
      ? node("span", { class: "lx-quiet" }, `${count(events.length)} of ${plural(num_events, "event")}`)
      : null;
  return [node("span", {}, strong(`Row ${count(row_id)}`)), ...chips, more];
}
