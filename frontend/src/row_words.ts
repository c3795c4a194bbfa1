// What is said of an event of a row.

import { node, strong } from "./elements";
import type { RowEvent } from "./messages";
import { absoluteTime, count, cut, visible } from "./text";

export const KNOWN = {
  recorded: "recorded in a file of the table",
  derived: "derived from row IDs",
  inferred: "inferred from counts and the order of rows",
  lost: "lost with versions that were cleaned up",
};

export function describeEvent(row: { row_id: string | null }, event: RowEvent) {
  return [
    strong(`Row ${count(row.row_id ?? "?")} ${event.event} in version ${count(event.version)}`),
    `${visible(event.operation ?? "operation not known")}, ${event.time ? absoluteTime(event.time) : "at an unknown time"}`,
    event.way,
    KNOWN[event.evidence],
    event.is_recorded ? "known from the ledger" : null,
    event.source ? node("span", { class: "lx-quiet" }, cut(event.source, 100)) : null,
  ];
}
