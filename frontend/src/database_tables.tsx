// The tables of a database, one line each: what hurts most first, or by a column.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { lineOf } from "./cells";
import { rich } from "./elements";
import { stepOf } from "./keys";
import type { DatabaseTables, MomentLine, MomentShown, TableLine } from "./messages";
import { set } from "./reactive";
import { absoluteTime, bytes, count, cut, listedTime, percent, visible } from "./text";

interface ListProps {
  /** The names of all tables, which are there first. */
  names: string[];
  tables: DatabaseTables | null;
  /** The versions of another time that are shown, too. */
  moment: MomentShown | null;
  onOpen: (name: string, version?: string | null) => void;
}

interface ListColumn {
  name: string;
  label: string;
  title: string;
  /** What lines are sorted by, the largest first. */
  by: (line: TableLine) => number;
  show: (line: TableLine) => ComponentChildren;
}

const number = (digits: string | null) => (digits === null ? -1 : Number(digits));
const known = (digits: string | null) => (digits === null ? "" : count(digits));
const moment = (iso: string | null) => (iso === null ? 0 : Date.parse(iso));
const ago = (iso: string | null, before = "") =>
  iso && <span title={`${before}${absoluteTime(iso)}`}>{listedTime(iso)}</span>;

const COLUMNS: ListColumn[] = [
  {
    name: "growth",
    label: "Growth",
    title: "Size of the data files over the kept versions",
    by: ({ growth }) => (growth?.length ? 1 - growth[0] : -1),
    show: ({ growth }) => growth && growth.length > 1 && lineOf(growth, "lx-db-growth"),
  },
  {
    name: "rows",
    label: "Rows",
    title: "Rows of the latest version",
    by: (line) => number(line.num_rows),
    show: (line) => known(line.num_rows),
  },
  {
    name: "size",
    label: "On disk",
    title: "All files of the table; the bar: what the latest version needs of them",
    by: (line) => number(line.size_bytes),
    show: sizeOf,
  },
  {
    name: "beside",
    label: "Not latest",
    title: "Bytes that the latest version does not need",
    by: (line) => number(line.size_bytes) - Math.max(0, number(line.live_bytes)),
    show: besideOf,
  },
  {
    name: "fragments",
    label: "To compact",
    title: "Fragments that a compaction would rewrite, of all",
    by: (line) => number(line.fragments_to_compact),
    show: ({ fragments_to_compact: few, num_fragments: all }) =>
      few !== null && all !== null && (few === "0" ? "none" : `${count(few)} of ${count(all)}`),
  },
  {
    name: "unindexed",
    label: "Unindexed",
    title: "Rows that the least complete index does not cover; empty: no index",
    by: (line) => number(line.unindexed_rows),
    show: ({ unindexed_rows: rows }) => (rows === "0" ? "none" : known(rows)),
  },
  {
    name: "versions",
    label: "Versions",
    title: "Versions that are kept",
    by: (line) => number(line.num_versions),
    show: (line) => known(line.num_versions),
  },
  {
    name: "commit",
    label: "Last commit",
    title: "When the latest version was committed",
    by: (line) => moment(line.last_commit),
    show: (line) => ago(line.last_commit),
  },
  {
    name: "compaction",
    label: "Compacted",
    title: "The last compaction of which the version is kept; empty: there is none",
    by: (line) => moment(line.last_compaction),
    show: (line) => ago(line.last_compaction),
  },
  {
    name: "cleanup",
    label: "Cleaned up",
    title: "The last cleanup was later than this; empty: no version was removed",
    by: (line) => moment(line.last_cleanup_after),
    show: (line) => ago(line.last_cleanup_after, "after "),
  },
];

const WORDS: Record<string, string> = { error: "wrong", warning: "to do", info: "worth knowing" };

/** The list, with a box that leaves some names. */
export function TableList({ names, tables, moment, onOpen }: ListProps) {
  const typed = useSignal("");
  const sorted = useSignal<{ name: string; isUp: boolean } | null>(null);
  const then = new Map((moment?.lines ?? []).map((line) => [line.name, line]));
  const lines = inOrder(tables?.lines ?? names.map(unread), sorted.value).filter(({ name }) =>
    name.toLowerCase().includes(typed.value.trim().toLowerCase()),
  );

  /** The largest first, then the smallest, then what hurts most. */
  function sortBy(name: string) {
    const { name: before, isUp } = sorted.value ?? {};
    if (before !== name) sorted.value = { name, isUp: false };
    else sorted.value = isUp ? null : { name, isUp: true };
  }

  function pressed(event: KeyboardEvent) {
    const step = stepOf(event.key, { ArrowDown: 1, ArrowUp: -1 });
    if (!step) return;
    const buttons = [...(event.currentTarget as Element).querySelectorAll<HTMLElement>(".lx-db-name")];
    const next = buttons[buttons.indexOf(event.target as HTMLElement) + step];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    next.focus();
  }

  return (
    <div class={moment ? "lx-db-tables lx-db-has-then" : "lx-db-tables"}>
      <div class="lx-db-above">
        <p>{tables ? rich(tables.sentence) : <span role="status">Looking at the tables…</span>}</p>
        <input
          class="lx-input"
          type="search"
          placeholder="Only names with…"
          aria-label="Only tables whose names have this in them"
          value={typed}
          onInput={({ currentTarget }) => set(typed, currentTarget.value)}
        />
      </div>
      <div class="lx-db-list" role="table" aria-label="Tables" aria-rowcount={lines.length} onKeyDown={pressed}>
        <div class="lx-db-line lx-db-heads" role="row">
          <span role="columnheader">Table</span>
          {moment && (
            <span role="columnheader" class="lx-db-then">
              Then
            </span>
          )}
          {COLUMNS.map(({ name, label, title }) => (
            <Head name={name} label={label} title={title} sorted={sorted.value} onSort={sortBy} />
          ))}
        </div>
        {lines.map((line) => (
          <Line key={line.name} line={line} then={moment ? (then.get(line.name) ?? null) : undefined} onOpen={onOpen} />
        ))}
        {lines.length === 0 && <p class="lx-quiet">No table has this in its name.</p>}
      </div>
    </div>
  );
}

interface HeadProps extends Pick<ListColumn, "name" | "label" | "title"> {
  sorted: { name: string; isUp: boolean } | null;
  onSort: (name: string) => void;
}

function Head({ name, label, title, sorted, onSort }: HeadProps) {
  const isMine = sorted?.name === name;
  const order = isMine ? (sorted.isUp ? "ascending" : "descending") : "none";
  return (
    <span role="columnheader" aria-sort={order} data-column={name}>
      <button class="lx-db-sort" title={`${title}. Click to sort.`} onClick={() => onSort(name)}>
        {label}
        {isMine && (sorted.isUp ? " ▲" : " ▼")}
      </button>
    </span>
  );
}

interface LineProps {
  line: TableLine;
  /** Its version at another time; null: not known, undefined: no other time is shown. */
  then: MomentLine | null | undefined;
  onOpen: ListProps["onOpen"];
}

function Line({ line, then, onOpen }: LineProps) {
  const { name, problem, worst, finding } = line;
  const told = problem ?? finding;
  const open = () => onOpen(name, then?.version);
  const mark = problem === null ? worst : "error";
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the button in it does the same
    <div class="lx-db-line" role="row" data-table={name} onClick={open}>
      <span role="cell" class="lx-db-first">
        <button class="lx-db-name">{cut(name, 80)}</button>
        {told && (
          <span class="lx-db-told" title={visible(told)}>
            <i class="lx-db-mark" data-severity={mark} />
            <span class="lx-quiet">
              {problem === null ? (worst && WORDS[worst]) || "" : "cannot be read"}: {rich(cut(told, 300))}
            </span>
          </span>
        )}
      </span>
      {then !== undefined && (
        <span role="cell" class="lx-db-then">
          {thenOf(then)}
        </span>
      )}
      {COLUMNS.map((column) => (
        <span role="cell" data-column={column.name}>
          {column.show(line)}
        </span>
      ))}
    </div>
  );
}

function thenOf(then: MomentLine | null) {
  if (!then) return "";
  if (then.version === null) return <span title={visible(then.problem ?? "")}>no version</span>;
  return (
    <span title={absoluteTime(then.timestamp)}>
      version {count(then.version)}
      {then.num_rows !== null && <span class="lx-quiet">, {count(then.num_rows)} rows</span>}
    </span>
  );
}

function sizeOf({ size_bytes: size, live_bytes: live }: TableLine) {
  if (size === null) return "";
  const share = live === null || size === "0" ? null : Number(live) / Number(size);
  const words = share === null ? "" : `the latest version needs ${percent(share)} of it`;
  return (
    <span class="lx-db-size" title={words}>
      {bytes(size)}
      {share !== null && (
        <i class="lx-db-share">
          <i style={{ width: `${100 * share}%` }} />
        </i>
      )}
    </span>
  );
}

function besideOf({ size_bytes: size, live_bytes: live }: TableLine) {
  return size === null || live === null ? "" : bytes(Number(size) - Number(live));
}

function inOrder(lines: TableLine[], sorted: { name: string; isUp: boolean } | null) {
  const column = COLUMNS.find(({ name }) => name === sorted?.name);
  if (!sorted || !column) return lines;
  const sign = sorted.isUp ? 1 : -1;
  return [...lines].sort((a, b) => sign * (column.by(a) - column.by(b)));
}

/** The line of a table before it was looked at. */
function unread(name: string): TableLine {
  return {
    name,
    problem: null,
    worst: null,
    finding: null,
    num_rows: null,
    num_fragments: null,
    fragments_to_compact: null,
    num_versions: null,
    size_bytes: null,
    live_bytes: null,
    unindexed_rows: null,
    last_commit: null,
    last_compaction: null,
    last_cleanup_after: null,
    growth: null,
  };
}
