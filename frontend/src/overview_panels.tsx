// Parts of the overview: facts, the versions that made the table big, operations by kind, advice.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { AdviceList, VIEW_NAMES } from "./advice";
import { sectionOf } from "./answer_sections";
import { Choices, factCard, Panel } from "./cards";
import { rich } from "./elements";
import type { History } from "./history";
import { KIND_COLORS } from "./kinds";
import { kindColor, swatch } from "./legend";
import type { Link } from "./link";
import type { Advice, AnswerSection, Lately, LatestFacts, Listed, Problem, Sizes, Story } from "./messages";
import { LeadTo } from "./reactive";
import {
  absoluteTime,
  bytes,
  count,
  cut,
  isoTime,
  known,
  listedTime,
  percent,
  plural,
  relativeTime,
  visible,
} from "./text";

/** All versions, and the story that they tell. */
export type OverviewHistory = History & Story;

function listed({ count: total, names }: Listed) {
  const more = total > names.length ? [`… ${count(names.length)} of ${count(total)}`] : [];
  return [...names.map(visible), ...more].join(", ");
}

function timeCard(label: string, time: string | null, version: string | bigint) {
  return factCard(
    label,
    time ? relativeTime(time) : "unknown",
    time ? absoluteTime(time) : null,
    `version ${count(version)}`,
  );
}

/** What all versions tell; null while they are being read. */
function historyCards(history: OverviewHistory | null) {
  if (!history) return ["versions kept", "first kept commit"].map((label) => factCard(label, "…", "being read"));
  const { facts } = history;
  return [
    factCard(
      history.recorded_words ? "versions known" : "versions kept",
      count(history.count),
      history.recorded_words
        ? `${count(history.is_recorded.reduce((sum, one) => sum + one, 0))} from the ledger`
        : facts && facts.num_lost !== "0"
          ? `${count(facts.num_lost)} not kept`
          : "all there ever were",
    ),
    timeCard("first kept commit", history.timeAt(0), history.versions[0]),
  ];
}

/** The facts of the latest version, and of the table; without a history while it is being read. */
export function factCards(facts: LatestFacts, history: OverviewHistory | null) {
  const [rows, fragments] = [facts.num_rows, facts.num_fragments].map((value) =>
    value === null ? NaN : Number(value),
  );
  const deleted = Number(facts.num_deleted_rows);
  const stable = facts.flags.includes("stable_row_ids");
  const others = facts.flags
    .filter((flag) => flag !== "stable_row_ids")
    .map((flag) => visible(flag.replaceAll("_", " ")));
  return [
    factCard("rows", known(facts.num_rows, count), deleted ? `${plural(deleted, "deleted row")} still in files` : null),
    factCard("data", known(facts.data_bytes, bytes), plural(facts.num_data_files, "file")),
    factCard(
      "fragments",
      count(facts.num_fragments),
      fragments && rows >= 0 ? `${plural(Math.round(rows / fragments), "row")} each, on average` : null,
    ),
    ...historyCards(history),
    timeCard("last commit", isoTime(facts.time ?? NaN), facts.version),
    factCard("indices", count(facts.indices.count), listed(facts.indices)),
    factCard("tags", count(facts.tags.count), listed(facts.tags)),
    factCard("branches", count(facts.branches.count), listed(facts.branches)),
    factCard(
      "row IDs",
      stable ? "stable" : "not stable",
      stable ? "a row keeps its ID when it moves" : "a row's ID is its address",
    ),
    factCard(
      "manifest",
      bytes(facts.manifest_bytes),
      facts.writer ? `by ${visible(facts.writer)}` : null,
      others.length ? `uses ${others.join(", ")}` : null,
    ),
  ];
}

/** What the latest version has, in a sentence. */
export function latestSentence(facts: LatestFacts, branch: string | null) {
  const latest =
    facts.version === facts.latest_version ? "" : ` in version ${count(facts.version)}, the latest that can be read`;
  return `The ${branch === null ? "table" : "branch"} has ${facts.num_rows === null ? "an unknown number of rows" : plural(facts.num_rows, "row")} in ${plural(facts.num_fragments, "fragment")}, ${facts.data_bytes === null ? "of unknown size" : `${bytes(facts.data_bytes)} of data`}${latest}. `;
}

/** What the facts come to, in sentences; what made it big once that is known. */
export function storySentences(history: OverviewHistory, sizes: Sizes | null, choose: (position: number) => void) {
  const first = history.timeAt(0);
  const recorded = history.recorded_words ? ` Of these, ${history.recorded_words}.` : "";
  const kept = recorded ? "known" : "kept";
  const span =
    history.count === 1
      ? `One version is ${kept}, ${count(history.versions[0])}`
      : `${count(history.count)} versions are ${kept}, ${count(history.versions[0])} to ${count(history.versions[history.count - 1])}`;
  return (
    <>
      {history.facts && latestSentence(history.facts, history.branch)}
      {`${span}; the first was committed ${first ? relativeTime(first) : "at an unknown time"}.${recorded} `}
      {sizes?.headline && (
        <span class="lx-big">
          {visible(sizes.headline.before)}
          <button class="lx-link" onClick={() => choose(history.positionOf(sizes.headline?.version ?? "") ?? -1)}>
            {sizes.headline.link}
          </button>
          {visible(sizes.headline.after)}
        </span>
      )}
    </>
  );
}

interface LatelyProps {
  link: Link;
  /** null while it is looked for. */
  lately: Lately | Problem | null;
  /** The version that is looked at. */
  chosen: string;
  choose: (version: string) => void;
}

/** The newest commits: when, what, and who. */
export function LatelyPanel({ link, lately, chosen, choose }: LatelyProps) {
  const problem = lately && "problem" in lately ? lately.problem : "";
  const commits = lately && "commits" in lately ? lately.commits : [];
  const isAnonymous = !commits.some(({ who }) => who);
  return (
    <Panel
      title="Latest changes"
      beside={
        <LeadTo link={link} view="log">
          All in the Log
        </LeadTo>
      }
    >
      {problem && <p class="lx-note">{cut(problem, 500)}</p>}
      <ol class={isAnonymous ? "lx-commits lx-lately lx-anonymous" : "lx-commits lx-lately"}>
        {!lately && <li class="lx-quiet">looking for them…</li>}
        {commits.map(({ version, kind, time, words, message, who }) => (
          <li key={version}>
            <button
              class="lx-line-button lx-late"
              data-version={version}
              aria-pressed={version === chosen}
              onClick={() => choose(version)}
            >
              <span class="lx-quiet lx-commit-time" title={absoluteTime(isoTime(time ?? NaN))}>
                {time === null ? "unknown time" : listedTime(isoTime(time))}
              </span>
              <span class="lx-commit-words">
                {swatch(KIND_COLORS[kind] ?? KIND_COLORS.other)}
                <span>
                  {rich(words)}
                  {message && <em class="lx-quiet"> “{visible(message)}”</em>}
                </span>
              </span>
              {!isAnonymous && <span class="lx-quiet lx-who">{who ? visible(who) : "not recorded"}</span>}
              <span class="lx-quiet lx-commit-version">v{version}</span>
            </button>
          </li>
        ))}
      </ol>
      {commits.length > 0 && isAnonymous && <p class="lx-quiet lx-bars-note">Who made them was not recorded.</p>}
    </Panel>
  );
}

/** The first rows of the latest version. */
export function FirstRows({
  link,
  rows,
  version,
}: {
  link: Link;
  rows: AnswerSection | Problem | null;
  version: string;
}) {
  const isKnown = rows && !("problem" in rows);
  return (
    <Panel
      title="First rows"
      beside={
        <LeadTo link={link} view="time_travel" changes={{ version }}>
          All rows, to filter and sort
        </LeadTo>
      }
    >
      <div class={!rows || (isKnown && rows.rows.length > 0) ? "lx-first-rows" : ""}>
        {!rows && <p class="lx-quiet">reading them…</p>}
        {rows && "problem" in rows && <p class="lx-note">{cut(rows.problem, 500)}</p>}
        {isKnown &&
          (rows.rows.length ? (
            sectionOf({ ...rows, title: "" }, undefined, <i class="lx-quiet">null</i>)
          ) : (
            <p class="lx-quiet">There are no rows.</p>
          ))}
        {isKnown && <p class="lx-quiet">{rows.title}</p>}
      </div>
    </Panel>
  );
}

interface CommitsProps {
  history: OverviewHistory | null;
  choose: (position: number) => void;
}

/** A bar in the colour of a kind, as wide as its share of the widest one. */
function AmountBar({ share, color }: { share: number; color: string }) {
  return <i class="lx-amount-bar" style={{ width: `${100 * share}%`, background: color }} />;
}

/** The versions that wrote most of what is there now, by bytes or by rows; `chosen` is the version that is shown. */
export function LargestCommits({
  history,
  sizes,
  chosen,
  choose,
}: CommitsProps & { sizes: Sizes | null; chosen: string }) {
  const measure = useSignal<"bytes" | "rows">("bytes");
  useLayoutEffect(() => {
    if (sizes && !sizes.bytes.versions.length && sizes.rows.versions.length) measure.value = "rows";
  }, [sizes]);
  return (
    <Panel
      title="What made it big"
      beside={<Choices label="Versions by" of={{ bytes: "bytes", rows: "rows" }} chosen={measure} />}
    >
      <p class="lx-quiet lx-bars-note">
        Data files, deletion files and indices that the latest version needs, by the version that wrote them; all shares
        add up to 100 %.
      </p>
      <ol class="lx-commits">
        {history && sizes ? (
          commitsBy(measure.value, history, sizes, chosen, choose)
        ) : (
          <li class="lx-quiet">looking for them…</li>
        )}
      </ol>
    </Panel>
  );
}

const NONE_LARGE = {
  bytes: "The latest version has no files, or their sizes are not recorded.",
  rows: "The latest version has no rows, or how many is not recorded.",
};

function commitsBy(
  measure: "bytes" | "rows",
  history: OverviewHistory,
  sizes: Sizes,
  chosen: string,
  choose: (position: number) => void,
) {
  const { versions, rest } = sizes[measure];
  const most = Math.max(...versions.map(({ amount }) => Number(amount)));
  const format = measure === "bytes" ? bytes : (rows: string) => plural(rows, "row");
  return (
    <>
      {!versions.length && <li class="lx-quiet">{NONE_LARGE[measure]}</li>}
      {versions.map(({ version, position, amount, share, note }) => {
        const time = history.timeAt(position);
        const color = kindColor(history, history.kind[position]);
        return (
          <li key={version}>
            <button
              class="lx-line-button lx-commit"
              data-version={version}
              aria-pressed={version === chosen}
              onClick={() => choose(position)}
            >
              <span class="lx-commit-version">version {count(version)}</span>
              <span class="lx-amount">
                <AmountBar share={Number(amount) / most} color={color} />
                <span>{format(amount)}</span>
                <span class="lx-quiet"> {percent(share)}</span>
              </span>
              <span class="lx-commit-words">
                {swatch(color)}
                <span>
                  {history.wordsOf(position)}
                  {note && <span class="lx-quiet"> ({visible(note)})</span>}
                </span>
              </span>
              <span class="lx-quiet lx-commit-time" title={absoluteTime(time)}>
                {listedTime(time)}
              </span>
            </button>
          </li>
        );
      })}
      {rest.count > 0 && (
        <li class="lx-quiet lx-commits-rest">
          and {plural(rest.count, "more version")}: {format(rest.amount)}, {percent(rest.share)}
        </li>
      )}
    </>
  );
}

/** How many commits there are of each kind; a click goes to the last one, then to those before the chosen position. */
export function OperationsByKind({ history, chosen, choose }: CommitsProps & { chosen: number }) {
  const kinds = useMemo(() => history && commitsByKind(history), [history]);
  return (
    <Panel title="What was done">
      <ul class="lx-kinds">
        {history && kinds ? (
          kinds.map(({ kind, places, added }) => {
            const name = history.kinds[kind] ?? "other";
            const last = places[places.length - 1];
            return (
              <li key={kind}>
                <button
                  class="lx-line-button lx-kind"
                  data-kind={name}
                  onClick={() => choose(places.findLast((place) => place < chosen) ?? last)}
                  title={`Go to the last ${name} commit; click again for the one before`}
                >
                  <span class="lx-kind-name">
                    {swatch(kindColor(history, kind))}
                    {name}
                  </span>
                  <span class="lx-amount">
                    <AmountBar share={places.length / kinds[0].places.length} color={kindColor(history, kind)} />
                    {count(places.length)}
                  </span>
                  <span class="lx-kind-growth" title="growth of the data in these commits">
                    {added ? `${added > 0 ? "+" : "−"}${bytes(Math.abs(added))}` : ""}
                  </span>
                  <span class="lx-quiet lx-commit-time">last: version {count(history.versions[last])}</span>
                </button>
              </li>
            );
          })
        ) : (
          <li class="lx-quiet">being read…</li>
        )}
      </ul>
    </Panel>
  );
}

/** The commits of each kind, most first, and what the data grew by in them; what is not known counts for nothing. */
function commitsByKind({ data_bytes: sizes, kind, kinds, count: total }: History) {
  const found = new Map<number, { kind: number; places: number[]; added: number }>();
  for (let p = 0; p < total; p += 1) {
    const of = found.get(kind[p]) ?? { kind: kind[p], places: [], added: 0 };
    const isStart = p === 0 && kinds[kind[p]] === "create";
    of.places.push(p);
    of.added += sizes[p] - (isStart ? 0 : sizes[p - 1]) || 0;
    found.set(kind[p], of);
  }
  return [...found.values()].sort((a, b) => b.places.length - a.places.length);
}

const CLOSER: Record<string, string> = {
  disk: "What a compaction would rewrite",
  indices: "What indices do not cover",
  encodings: "Size of row IDs",
};

/** What is wrong or should be done, or where to look for what is below what the checks call much. */
export function AdvicePanel({ link, advice, isLooking }: { link: Link; advice: Advice | null; isLooking: boolean }) {
  return (
    <Panel
      title="Health"
      beside={
        <span class="lx-quiet" role="status">
          {isLooking ? "looking…" : advice?.counts}
        </span>
      }
    >
      <AdviceList
        advice={advice}
        link={link}
        choose={link.setState}
        open={link.open}
        canOpen={link.canOpen}
        closer={Object.keys(CLOSER).map((view) => (
          <LeadTo link={link} view={view} title={`Open ${VIEW_NAMES[view]}`}>
            {CLOSER[view]}
          </LeadTo>
        ))}
      />
    </Panel>
  );
}
