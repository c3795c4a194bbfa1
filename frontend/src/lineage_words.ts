// What the lineage says of lanes, ribbons, commits and rows.

import type { Child } from "./elements";
import { node, strong } from "./elements";
import { KIND_COLORS } from "./kinds";
import { legendEntry, swatch } from "./legend";
import type { Commits } from "./lineage_axis";
import type { InLineage, Layout } from "./lineage_drawing";
import { isRest, laneNames, RIBBON_COLORS, ribbonKind } from "./lineage_drawing";
import type { Lane } from "./messages";
import { describeEvent, KNOWN } from "./row_words";
import { absoluteTime, bytes, count, cut, isoTime, plural, visible } from "./text";

const WAYS = { rewrite: "compacted", update: "updated", clone: "taken over by the branch", restore: "brought back" };

const ENDS: Record<string, string> = { Rewrite: "removed by a compaction", Restore: "removed by a restore" };

function rowsWords(rows: number) {
  return Number.isNaN(rows) ? "an unknown number of rows" : plural(rows, "row");
}

export function spanWords(begin: number, end: number) {
  return begin === end ? `version ${count(begin)}` : `versions ${count(begin)} to ${count(end)}`;
}

/** Return what the tooltip says of what was found in the picture, as elements. */
export function describeInLineage(found: InLineage, layout: Layout, commits: Commits) {
  const lines = linesOf(found, layout, commits).filter((line) => line !== null);
  return lines.map((line) => node("div", {}, ...(Array.isArray(line) ? line : [line])));
}

function linesOf(found: InLineage, layout: Layout, commits: Commits): (Child | Child[])[] {
  switch (found.what) {
    case "lane":
      return describeLane(layout, found.index, found.step);
    case "ribbon":
      return describeRibbon(layout, found.index);
    case "rewrite":
      return [
        strong(`Columns rewritten in version ${count(layout.rewrite_version[found.index])}`),
        rowsWords(layout.rewrite_rows[found.index]),
      ];
    case "event":
      return layout.row ? describeEvent(layout.row, found.mark.event) : [];
    case "commit":
      return describeCommit(commits, found.index);
  }
}

function describeLane(layout: Layout, index: number, step: number) {
  const lane = layout.lanes[index];
  const when = spanWords(layout.step_begin[step], layout.step_end[step]);
  if (isRest(lane)) {
    return [
      strong(plural(layout.step_num_fragments[step], "other fragment")),
      `${rowsWords(layout.step_num_rows[step])} together in ${when}`,
      "zoom in to see them apart",
    ];
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

function laneTitle(lane: Lane) {
  return `Fragment ${count(lane.fragment_id)}${lane.branch ? ` of branch ${cut(lane.branch, 40)}` : ""}`;
}

export function laneBeginning(lane: Lane) {
  if (!lane.first_version_exact) return `first known in version ${count(lane.first_version)}`;
  return `made in version ${count(lane.first_version)} by ${visible(lane.operation ?? "an unknown operation")}`;
}

export function laneEnd(lane: Lane) {
  if (lane.is_current) return "in the latest version";
  if (lane.last_version === null) return "in no kept version";
  const then = lane.end_operation === null ? "" : `, then ${ENDS[lane.end_operation] ?? visible(lane.end_operation)}`;
  return `last in version ${count(lane.last_version)}${then}`;
}

function describeRibbon(layout: Layout, index: number) {
  const [from, to] = [layout.ribbon_from[index], layout.ribbon_to[index]].map(
    (lane) => laneNames(layout.lanes[lane], NaN)[0],
  );
  const many = layout.ribbon_num_edges[index] > 1 ? `, ${count(layout.ribbon_num_edges[index])} edges together` : "";
  return [
    strong(
      `${rowsWords(layout.ribbon_rows[index])} ${WAYS[ribbonKind(layout, index)]} in version ${count(layout.ribbon_version[index])}`,
    ),
    `from ${from} to ${to}${many}`,
    KNOWN[layout.evidence[index]],
  ];
}

function describeCommit(commits: Commits, p: number) {
  const tags = commits.tags.filter(({ place }) => place === p).map(({ name }) => cut(name, 40));
  const origin = commits.originAt(p);
  return [
    [
      strong(`Version ${count(commits.versions[p])} `),
      origin === undefined ? "" : `of ${cut(origin, 40)} · `,
      visible(commits.operations[p] ?? "unknown operation"),
    ],
    node("span", { class: "lx-quiet" }, absoluteTime(isoTime(commits.times[p]))),
    tags.length ? `⚑ ${tags.join(", ")}` : null,
    commits.isRecorded[p] ? "known from the ledger" : null,
  ];
}

/** What the colours in the picture mean. */
export function lineageLegend(layout: Layout, commits: Commits) {
  const kinds = [...new Set(layout.lanes.filter((lane) => !isRest(lane)).map((lane) => lane.kind))];
  const made = Object.keys(KIND_COLORS)
    .filter((kind) => kinds.includes(kind))
    .map((kind) =>
      legendEntry(swatch(KIND_COLORS[kind]), kind === "other" ? "made by an unknown operation" : `made by ${kind}`),
    );
  const ways = [...new Set(Array.from(layout.ribbon_kind, (code) => layout.ribbon_kinds[code]))].map((kind) =>
    legendEntry(
      node("i", {
        class: `lx-swatch lx-ribbon-key${kind === "restore" ? " lx-dotted" : ""}`,
        style: { "--lx-mark": KIND_COLORS[RIBBON_COLORS[kind]] },
      }),
      `rows ${WAYS[kind]}`,
    ),
  );
  const rest = layout.has_rest
    ? [legendEntry(node("i", { class: "lx-swatch lx-rest-key" }), "fragments without a lane of their own")]
    : [];
  const rewritten = layout.rewrite_x.length
    ? [
        legendEntry(
          node("i", { class: "lx-swatch lx-rewrite-key", style: { background: KIND_COLORS.schema } }),
          "columns rewritten",
        ),
      ]
    : [];
  const origins = commits.origins.map(({ branch }) => cut(branch ?? "main", 24)).join(", ");
  const inherited = origins
    ? [legendEntry(node("i", { class: "lx-swatch lx-inherited-key" }), `versions inherited from ${origins}`)]
    : [];
  const recorded = commits.isRecorded.includes(1)
    ? [legendEntry(node("i", { class: "lx-swatch lx-pale" }), "pale commits: known from the ledger")]
    : [];
  return [...made, ...rest, ...ways, ...rewritten, ...inherited, ...recorded];
}
