// The commit of the log that is chosen: what is known of it, and where to go from it.

import type { Child } from "./elements";
import { fill, node, rich } from "./elements";
import { kindColor, legendEntry, swatch } from "./legend";
import type { Link } from "./link";
import { commitLabels } from "./log_lines";
import { placeOf } from "./log_places";
import { bytesChange, type Log, madeOn, rowChanges } from "./log_words";
import { absoluteTime, count, cut, isoTime, relativeTime, visible } from "./text";

/**
 * What is told of one commit beside the lines: `element`, and `show(log, line, ownBranch)`, line -1
 * for none. `openIn` shows a commit in another view.
 */
export function commitDetail(link: Link, openIn: (view: string, line: number) => void) {
  const element = node("div", { class: "lx-log-detail" });

  function show(log: Log | null, line: number, ownBranch: string | null) {
    if (!log || line < 0) fill(element, node("p", { class: "lx-quiet" }, log ? "Choose a commit." : ""));
    else fill(element, ...described(log, line, ownBranch));
  }

  function described(log: Log, line: number, ownBranch: string | null): Child[] {
    const { branch, version } = placeOf(log, line);
    const time = isoTime(log.times[line]);
    return [
      node(
        "h4",
        {},
        `Version ${count(version)}`,
        branch === ownBranch ? "" : node("span", { class: "lx-quiet" }, ` of ${cut(branch ?? "main", 60)}`),
      ),
      node("div", { class: "lx-log-told" }, ...commitLabels(log, line)),
      node(
        "div",
        { class: "lx-log-when" },
        legendEntry(swatch(kindColor(log, log.kind[line])), visible(log.operation[line] ?? "unknown operation")),
        node("span", { class: "lx-quiet" }, time ? `${relativeTime(time)}, ${absoluteTime(time)}` : "unknown time"),
      ),
      node("p", {}, ...rich(log.words[line] ?? "")),
      node(
        "dl",
        { class: "lx-log-facts" },
        ...commitFacts(log, line).flatMap(([name, value]) => [
          node("dt", { class: "lx-quiet" }, name),
          node("dd", {}, value),
        ]),
      ),
      node(
        "div",
        { class: "lx-log-actions" },
        ...(branch === ownBranch ? ownActions(log, line) : [switchTo(branch, line)]),
      ),
    ];
  }

  function ownActions(log: Log, line: number): Child[] {
    const { branch, version } = placeOf(log, line);
    const before = log.parent_branches[line] === branch ? log.parent_versions[line] : null;
    return [
      link.leadTo("time_travel", "Open in Time travel", { version }),
      link.leadTo("changes", "What it changed", {
        version,
        compared_version: before ?? (version === "1" ? "0" : version),
      }),
      comparison(version, link.state.compared_version),
    ];
  }

  function comparison(version: string, compared: string | null): Child {
    if (compared === null || compared === version)
      return node("span", { class: "lx-quiet" }, "Shift and click another commit to compare.");
    const [first, last] = BigInt(compared) < BigInt(version) ? [compared, version] : [version, compared];
    return (
      link.leadTo("changes", `Compare ${count(first)} with ${count(last)}`, {
        version: last,
        compared_version: first,
      }) ?? node("span", { class: "lx-quiet" }, `compared with version ${count(compared)}`)
    );
  }

  function switchTo(branch: string | null, line: number): Child {
    if (!link.canOpen("time_travel")) return null;
    const onclick = () => openIn("time_travel", line);
    return node("button", { class: "lx-button lx-small", onclick }, `Switch to ${cut(branch ?? "main", 40)}`);
  }

  return { element, show };
}

/** What is known of a commit, by name; nothing is said of what is not known. */
export function commitFacts(log: Log, line: number): [string, string][] {
  const facts: [string, string | null][] = [
    ["message", log.message[line]],
    ["author", log.author[line]],
    ["job", [log.job[line], log.run[line]].filter(Boolean).join(", run ")],
    ["rows", rowChanges(log, line).words],
    ["data files", bytesChange(log.bytes_change[line])],
    ["columns", log.columns[line] ?? "whole rows"],
    ["properties", log.properties[line]],
    ["made on", madeOn(log, line)],
  ];
  return facts.flatMap(([name, value]): [string, string][] => (value ? [[name, visible(value)]] : []));
}
