// The commit of the log that is chosen: what is known of it, and where to go from it.

import { rich } from "./elements";
import { kindColor, legendEntry, swatch } from "./legend";
import type { Link } from "./link";
import { commitLabels } from "./log_lines";
import { placeOf } from "./log_places";
import { bytesChange, type Log, madeOn, rowChanges } from "./log_words";
import { AskExplorer, LeadTo } from "./reactive";
import { absoluteTime, count, cut, isoTime, relativeTime, visible } from "./text";

interface DetailProps {
  link: Link;
  log: Log;
  /** The line of the commit, -1 for none. */
  line: number;
  ownBranch: string | null;
  /** The version that another one of the branch is compared with. */
  compared: string | null;
  openIn: (view: string, line: number) => void;
}

/** What is told of one commit beside the lines. */
export function CommitDetail({ link, log, line, ownBranch, compared, openIn }: DetailProps) {
  if (line < 0) return <p class="lx-quiet">Choose a commit.</p>;
  const { branch, version } = placeOf(log, line);
  const time = isoTime(log.times[line]);
  const before = log.parent_branches[line] === branch ? log.parent_versions[line] : null;
  return (
    <>
      <h4>
        Version {count(version)}
        {branch !== ownBranch && <span class="lx-quiet"> of {cut(branch ?? "main", 60)}</span>}
      </h4>
      <div class="lx-log-told">{commitLabels(log, line)}</div>
      <div class="lx-log-when">
        {legendEntry(swatch(kindColor(log, log.kind[line])), visible(log.operation[line] ?? "unknown operation"))}
        <span class="lx-quiet">{time ? `${relativeTime(time)}, ${absoluteTime(time)}` : "unknown time"}</span>
      </div>
      <p>{rich(log.words[line] ?? "")}</p>
      <dl class="lx-log-facts">
        {commitFacts(log, line).map(([name, value]) => (
          <>
            <dt class="lx-quiet">{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
      </dl>
      <div class="lx-log-actions">
        {branch === ownBranch ? (
          <>
            <LeadTo link={link} view="time_travel" changes={{ version }}>
              Open in Time travel
            </LeadTo>
            <LeadTo
              link={link}
              view="changes"
              changes={{ version, compared_version: before ?? (version === "1" ? "0" : version) }}
            >
              What it changed
            </LeadTo>
            <AskExplorer link={link} question={`undo ${version}`}>
              Undo this commit
            </AskExplorer>
            <Comparison link={link} version={version} compared={compared} />
          </>
        ) : (
          link.canOpen("time_travel") && (
            <button class="lx-button lx-small" onClick={() => openIn("time_travel", line)}>
              Switch to {cut(branch ?? "main", 40)}
            </button>
          )
        )}
      </div>
    </>
  );
}

function Comparison({ link, version, compared }: { link: Link; version: string; compared: string | null }) {
  if (compared === null || compared === version)
    return <span class="lx-quiet">Shift and click another commit to compare.</span>;
  if (!link.canOpen("changes")) return <span class="lx-quiet">compared with version {count(compared)}</span>;
  const [first, last] = BigInt(compared) < BigInt(version) ? [compared, version] : [version, compared];
  return (
    <LeadTo link={link} view="changes" changes={{ version: last, compared_version: first }}>
      Compare {count(first)} with {count(last)}
    </LeadTo>
  );
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
