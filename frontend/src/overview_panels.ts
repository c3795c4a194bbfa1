// Parts of the overview: facts, the versions that made the table big, operations by kind, advice.

import { adviceList, VIEW_NAMES } from "./advice";
import { choiceBar, factCard, panel } from "./cards";
import { fill, node } from "./elements";
import type { History } from "./history";
import { kindColor, swatch } from "./legend";
import type {
  Advice,
  Changes,
  Headline,
  LatestFacts,
  Listed,
  RestOfCommits,
  SizedCommit,
  Sizes,
  Story,
} from "./messages";
import { absoluteTime, bytes, count, isoTime, known, percent, plural, relativeTime, visible } from "./text";

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
        : facts.num_lost !== "0"
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
  return node(
    "span",
    {},
    `The ${branch === null ? "table" : "branch"} has ${facts.num_rows === null ? "an unknown number of rows" : plural(facts.num_rows, "row")} in ${plural(facts.num_fragments, "fragment")}, ${facts.data_bytes === null ? "of unknown size" : `${bytes(facts.data_bytes)} of data`}${latest}. `,
  );
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
  return [
    latestSentence(history.facts, history.branch),
    node(
      "span",
      {},
      `${span}; the first was committed ${first ? relativeTime(first) : "at an unknown time"}.${recorded} `,
    ),
    ...bigSentence(history, sizes?.headline ?? null, choose),
  ];
}

/** What made the table big, with a link to the version. */
function bigSentence(history: OverviewHistory, headline: Headline | null, choose: (position: number) => void) {
  if (!headline) return [];
  const link = node(
    "button",
    { class: "lx-link", onclick: () => choose(history.positionOf(headline.version) ?? -1) },
    headline.link,
  );
  return [node("span", { class: "lx-big" }, visible(headline.before), link, visible(headline.after))];
}

/** The versions that wrote most of what is there now, by bytes or by rows; `choose(position)` when one is clicked. */
export function largestCommits(choose: (position: number) => void) {
  const list = node("ol", { class: "lx-commits" }, node("li", { class: "lx-quiet" }, "looking for them…"));
  const formats = { bytes, rows: (rows: string) => plural(rows, "row") };
  let history!: OverviewHistory;
  let sizes!: Sizes;
  let measure: "bytes" | "rows" = "bytes";
  let chosen: string | undefined;
  const toggle = choiceBar(
    "Versions by",
    [
      ["bytes", "bytes"],
      ["rows", "rows"],
    ],
    (name) => {
      measure = name as "bytes" | "rows";
      if (sizes) draw();
    },
  );

  function entry(commit: SizedCommit, most: number) {
    const { position } = commit;
    const time = history.timeAt(position);
    const bar = node("i", {
      class: "lx-amount-bar",
      style: {
        width: `${(100 * Number(commit.amount)) / most}%`,
        background: kindColor(history, history.kind[position]),
      },
    });
    return node(
      "li",
      {},
      node(
        "button",
        {
          class: "lx-line-button lx-commit",
          "data-version": commit.version,
          "aria-pressed": String(commit.version === chosen),
          onclick: () => choose(position),
        },
        node("span", { class: "lx-commit-version" }, `version ${count(commit.version)}`),
        node(
          "span",
          { class: "lx-amount" },
          bar,
          node("span", {}, formats[measure](commit.amount)),
          node("span", { class: "lx-quiet" }, ` ${percent(commit.share)}`),
        ),
        node(
          "span",
          { class: "lx-commit-words" },
          swatch(kindColor(history, history.kind[position])),
          node(
            "span",
            {},
            history.wordsOf(position),
            commit.note ? node("span", { class: "lx-quiet" }, ` (${visible(commit.note)})`) : null,
          ),
        ),
        node("span", { class: "lx-quiet lx-commit-time", title: absoluteTime(time) }, time ? relativeTime(time) : ""),
      ),
    );
  }

  function restEntry({ count: number, amount, share }: RestOfCommits) {
    return node(
      "li",
      { class: "lx-quiet lx-commits-rest" },
      `and ${plural(number, "more version")}: ${formats[measure](amount)}, ${percent(share)}`,
    );
  }

  function draw() {
    const { versions, rest } = sizes[measure];
    const most = Math.max(...versions.map(({ amount }) => Number(amount)));
    const nothing =
      measure === "bytes"
        ? "The latest version has no files, or their sizes are not recorded."
        : "The latest version has no rows, or how many is not recorded.";
    const entries = versions.map((commit) => entry(commit, most));
    fill(
      list,
      ...(entries.length ? entries : [node("li", { class: "lx-quiet" }, nothing)]),
      ...(rest.count ? [restEntry(rest)] : []),
    );
  }

  return {
    element: panel(
      "What made it big",
      toggle.element,
      node(
        "p",
        { class: "lx-quiet lx-bars-note" },
        "Data files, deletion files and indices that the latest version needs, by the version that wrote them; all shares add up to 100 %.",
      ),
      list,
    ),
    setSizes(newest: OverviewHistory, found: Sizes) {
      history = newest;
      sizes = found;
      if (!sizes.bytes.versions.length && sizes.rows.versions.length) measure = "rows";
      toggle.choose(measure);
      draw();
    },
    show(version: string) {
      chosen = version;
      for (const button of list.querySelectorAll("button"))
        button.setAttribute("aria-pressed", String(button.dataset.version === version));
    },
  };
}

/** How many commits there are of each kind; a click goes to the last one, then to earlier ones. */
export function operationsByKind(choose: (position: number) => void) {
  const list = node("ul", { class: "lx-kinds" }, node("li", { class: "lx-quiet" }, "being read…"));
  let chosen = -1;
  return {
    element: panel("What was done", null, list),
    setHistory(history: OverviewHistory) {
      const byKind = new Map<number, number[]>();
      history.kind.forEach((kind, p) => {
        const places = byKind.get(kind);
        if (places) places.push(p);
        else byKind.set(kind, [p]);
      });
      const growth = growthByKind(history);
      const sorted = [...byKind].sort(([, a], [, b]) => b.length - a.length);
      const most = sorted[0]?.[1].length ?? 1;
      fill(
        list,
        ...sorted.map(([kind, places]) => {
          const name = history.kinds[kind] ?? "other";
          const last = places[places.length - 1];
          const added = growth.get(kind);
          const step = () => choose(places.findLast((place) => place < chosen) ?? last);
          return node(
            "li",
            {},
            node(
              "button",
              {
                class: "lx-line-button lx-kind",
                "data-kind": name,
                onclick: () => step(),
                title: `Go to the last ${name} commit; click again for the one before`,
              },
              node("span", { class: "lx-kind-name" }, swatch(kindColor(history, kind)), name),
              node(
                "span",
                { class: "lx-amount" },
                node("i", {
                  class: "lx-amount-bar",
                  style: { width: `${(100 * places.length) / most}%`, background: kindColor(history, kind) },
                }),
                count(places.length),
              ),
              node(
                "span",
                { class: "lx-kind-growth", title: "growth of the data in these commits" },
                added ? `${added > 0 ? "+" : "−"}${bytes(Math.abs(added))}` : "",
              ),
              node("span", { class: "lx-quiet lx-commit-time" }, `last: version ${count(history.versions[last])}`),
            ),
          );
        }),
      );
    },
    show(position: number) {
      chosen = position;
    },
  };
}

/** What the data grew by in the commits of each kind; what is not known counts for nothing. */
function growthByKind({ data_bytes: sizes, kind, kinds, count: total }: History) {
  const growth = new Map<number, number>();
  for (let p = 0; p < total; p += 1) {
    const isStart = p === 0 && kinds[kind[p]] === "create";
    const change = sizes[p] - (isStart ? 0 : sizes[p - 1]);
    if (change) growth.set(kind[p], (growth.get(kind[p]) ?? 0) + change);
  }
  return growth;
}

/** What is wrong or should be done; `choose(changes)` and `open(view, changes)` when one is clicked. */
export function advicePanel({
  choose,
  open,
  canOpen,
}: {
  choose: (changes: Changes) => void;
  open: (view: string, changes: Changes) => void;
  canOpen: (view: string) => boolean;
}) {
  const summary = node("span", { class: "lx-quiet", role: "status" }, "looking…");
  const list = adviceList({ choose, open, canOpen, closer: lookCloser });

  /** Where to look for what is below what the checks call much. */
  function lookCloser() {
    const places: Record<string, string> = {
      disk: "What a compaction would rewrite",
      indices: "What indices do not cover",
      encodings: "Size of row IDs",
    };
    return Object.keys(places)
      .filter(canOpen)
      .map((view) =>
        node(
          "button",
          { class: "lx-button lx-small", title: `Open ${VIEW_NAMES[view]}`, onclick: () => open(view, {}) },
          places[view],
        ),
      );
  }

  return {
    element: panel("What to do", summary, list.element),
    wait() {
      summary.textContent = "looking…";
    },
    show(advice: Advice) {
      summary.textContent = advice.counts;
      list.show(advice);
    },
  };
}
