// What the lineage says of lanes, ribbons, commits and rows.

const WAYS = { rewrite: "compacted", update: "updated", clone: "taken over by the branch", restore: "brought back" };
const ENDS = { Rewrite: "removed by a compaction", Restore: "removed by a restore" };
const KNOWN = {
  recorded: "recorded in a file of the table",
  derived: "derived from row IDs",
  inferred: "inferred from counts and the order of rows",
  lost: "lost with versions that were cleaned up",
};

function rowsWords(rows) {
  return Number.isNaN(rows) ? "an unknown number of rows" : plural(rows, "row");
}

function spanWords(begin, end) {
  return begin === end ? `version ${count(begin)}` : `versions ${count(begin)} to ${count(end)}`;
}

/** Return what the tooltip says of what was found in the picture, as elements. */
function describeInLineage(found, layout, commits) {
  const lines = {
    lane: () => describeLane(layout, found.index, found.step),
    ribbon: () => describeRibbon(layout, found.index),
    rewrite: () => [strong(`Columns rewritten in version ${count(layout.rewrite_version[found.index])}`), rowsWords(layout.rewrite_rows[found.index])],
    event: () => describeEvent(layout.row, found.mark.event),
    commit: () => describeCommit(commits, found.index),
  }[found.what]();
  return lines.filter(Boolean).map((line) => node("div", {}, ...[line].flat()));
}

function strong(text) {
  return node("strong", {}, text);
}

function describeLane(layout, index, step) {
  const lane = layout.lanes[index];
  const when = spanWords(layout.step_begin[step], layout.step_end[step]);
  if (isRest(lane)) {
    return [strong(plural(layout.step_num_fragments[step], "other fragment")), `${rowsWords(layout.step_num_rows[step])} together in ${when}`, "zoom in to see them apart"];
  }
  return [
    strong(`${laneTitle(lane)}`),
    lane.table ? `in ${cut(lane.table, 80)}` : null,
    `${rowsWords(layout.step_num_rows[step])} in ${when}`,
    `${bytes(lane.data_bytes)} of data`,
    laneBeginning(lane),
    laneEnd(lane),
  ];
}

function laneTitle(lane) {
  return `Fragment ${count(lane.fragment_id)}${lane.branch ? ` of branch ${cut(lane.branch, 40)}` : ""}`;
}

function laneBeginning(lane) {
  if (!lane.first_version_exact) return `first known in version ${count(lane.first_version)}`;
  return `made in version ${count(lane.first_version)} by ${visible(lane.operation ?? "an unknown operation")}`;
}

function laneEnd(lane) {
  if (lane.is_current) return "in the latest version";
  if (lane.last_version === null) return "in no kept version";
  const then = lane.end_operation === null ? "" : `, then ${ENDS[lane.end_operation] ?? visible(lane.end_operation)}`;
  return `last in version ${count(lane.last_version)}${then}`;
}

function describeRibbon(layout, index) {
  const [from, to] = [layout.ribbon_from[index], layout.ribbon_to[index]].map((lane) => laneNames(layout.lanes[lane], NaN)[0]);
  const many = layout.ribbon_num_edges[index] > 1 ? `, ${count(layout.ribbon_num_edges[index])} edges together` : "";
  return [
    strong(`${rowsWords(layout.ribbon_rows[index])} ${WAYS[ribbonKind(layout, index)]} in version ${count(layout.ribbon_version[index])}`),
    `from ${from} to ${to}${many}`,
    KNOWN[layout.evidence[index]],
  ];
}

function describeEvent(row, event) {
  return [
    strong(`Row ${count(row.row_id)} ${event.event} in version ${count(event.version)}`),
    `${visible(event.operation ?? "operation not known")}, ${event.time ? absoluteTime(event.time) : "at an unknown time"}`,
    event.way,
    KNOWN[event.evidence],
    event.is_recorded ? "known from the ledger" : null,
    event.source ? node("span", { class: "lx-quiet" }, cut(event.source, 100)) : null,
  ];
}

function describeCommit(commits, p) {
  const tags = commits.tags.filter(({ place }) => place === p).map(({ name }) => cut(name, 40));
  const origin = commits.originAt(p);
  return [
    [strong(`Version ${count(commits.versions[p])} `), origin === undefined ? "" : `of ${cut(origin, 40)} · `, visible(commits.operations[p] ?? "unknown operation")],
    node("span", { class: "lx-quiet" }, absoluteTime(isoTime(commits.times[p]))),
    tags.length ? `⚑ ${tags.join(", ")}` : null,
    commits.isRecorded[p] ? "known from the ledger" : null,
  ];
}

/** What the colours in the picture mean. */
function lineageLegend(layout, commits) {
  const kinds = [...new Set(layout.lanes.filter((lane) => !isRest(lane)).map((lane) => lane.kind))];
  const made = Object.keys(KIND_COLORS).filter((kind) => kinds.includes(kind)).map((kind) => legendEntry(swatch(KIND_COLORS[kind]), kind === "other" ? "made by an unknown operation" : `made by ${kind}`));
  const ways = [...new Set(Array.from(layout.ribbon_kind, (code) => layout.ribbon_kinds[code]))].map((kind) => legendEntry(node("i", { class: `lx-swatch lx-ribbon-key${kind === "restore" ? " lx-dotted" : ""}`, style: { "--lx-mark": KIND_COLORS[RIBBON_COLORS[kind]] } }), `rows ${WAYS[kind]}`));
  const rest = layout.has_rest ? [legendEntry(node("i", { class: "lx-swatch lx-rest-key" }), "fragments without a lane of their own")] : [];
  const rewritten = layout.rewrite_x.length ? [legendEntry(node("i", { class: "lx-swatch lx-rewrite-key", style: { background: KIND_COLORS.schema } }), "columns rewritten")] : [];
  const origins = commits.origins.map(({ branch }) => cut(branch ?? "main", 24)).join(", ");
  const inherited = origins ? [legendEntry(node("i", { class: "lx-swatch lx-inherited-key" }), `versions inherited from ${origins}`)] : [];
  const recorded = commits.isRecorded.includes(1) ? [legendEntry(node("i", { class: "lx-swatch lx-pale" }), "pale commits: known from the ledger")] : [];
  return [...made, ...rest, ...ways, ...rewritten, ...inherited, ...recorded];
}

function swatch(color) {
  return node("i", { class: "lx-swatch", style: { background: color } });
}
