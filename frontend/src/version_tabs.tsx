// What else a version has: rows, schema, indices and configuration, each on a tab.

import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { stepOf } from "./keys";
import type { ConfigEntry, Details, IndexEntry, SchemaEntry } from "./messages";
import { Held, placeClass, set } from "./reactive";
import { count, cut, plural, visible } from "./text";

type TabName = "rows" | keyof Details;

const OTHERS: (keyof Details)[] = ["schema", "indices", "config"];

const NAMES: TabName[] = ["rows", ...OTHERS];

interface TabsProps {
  grid: HTMLElement;
  /** What the version has besides rows; null until that is known. */
  details: Details | null;
  /** How many rows it has, null where that is not known, or why none can be shown; null until that is known. */
  rows: { total: number | null; problem?: string } | null;
  /** What is shown is of another version. */
  isMoving: Record<"rows" | "details", boolean>;
}

/** The tabs around the grid of rows. */
export function VersionTabs({ grid, details, rows, isMoving }: TabsProps) {
  const open = useSignal<TabName>("rows");
  function pressed(event: KeyboardEvent) {
    const step = stepOf(event.key, { ArrowLeft: -1, ArrowRight: 1 });
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    open.value = NAMES[(NAMES.indexOf(open.value) + step + NAMES.length) % NAMES.length];
    (event.currentTarget as Element).querySelector<HTMLElement>("[aria-selected=true]")?.focus();
  }
  const tab = (name: TabName, total: number | string | undefined, changed = 0) => (
    <button
      class="lx-tab"
      role="tab"
      data-tab={name}
      aria-selected={name === open.value}
      tabIndex={name === open.value ? 0 : -1}
      onClick={() => set(open, name)}
    >
      {name[0].toUpperCase() + name.slice(1)}
      {total !== undefined && <span class="lx-quiet"> {count(total)}</span>}
      {changed > 0 && (
        <span class="lx-badge" title={`${plural(changed, "change")} in this version`}>
          {count(changed)} changed
        </span>
      )}
    </button>
  );
  const panel = (name: TabName, isHere: boolean, isOld: boolean, content: ComponentChildren) => (
    <div class={placeClass("lx-panel", isHere, isOld)} role="tabpanel" data-panel={name} hidden={name !== open.value}>
      {content}
    </div>
  );
  return (
    <div class={placeClass("lx-version-tabs", rows !== null || details !== null)}>
      <div class="lx-tabs" role="tablist" onKeyDown={pressed}>
        {tab("rows", rows ? (rows.total ?? "?") : undefined)}
        {OTHERS.map((name) => tab(name, details?.[name].num_there, details?.[name].num_changed))}
      </div>
      {panel("rows", rows !== null, isMoving.rows, rows?.problem ? refusal(rows.problem) : <Held element={grid} />)}
      {OTHERS.map((name) =>
        panel(
          name,
          details !== null,
          isMoving.details,
          details && entriesOf(name, details[name], TABLES[name](details)),
        ),
      )}
    </div>
  );
}

function entriesOf(name: keyof Details, { entries, num_entries: total }: Details[keyof Details], table: VNode) {
  if (!entries.length) return <p class="lx-quiet">{NOTHING[name]}</p>;
  return (
    <>
      <div class="lx-scroll">{table}</div>
      {entries.length < total && (
        <p class="lx-quiet">
          {count(entries.length)} of {count(total)} entries, changed ones first
        </p>
      )}
    </>
  );
}

const NOTHING = {
  schema: "No columns.",
  indices: "No indices in this version.",
  config: "No configuration and no metadata in this version.",
};

const TABLES: Record<keyof Details, (details: Details) => VNode> = {
  schema: ({ schema }) => schemaTable(schema.entries),
  indices: ({ indices }) => indexTable(indices.entries),
  config: ({ config }) => configTable(config.entries),
};

export function refusal(problem: string) {
  return (
    <p class="lx-refusal" role="note">
      <strong>No rows: </strong>
      {cut(problem, 2000)}
    </p>
  );
}

function detailTable(headings: string[], rows: { change: string | null; cells: ComponentChildren[] }[]) {
  return (
    <table class="lx-table lx-details">
      <thead>
        <tr>
          {[...headings, "in this version"].map((heading) => (
            <th scope="col">{heading}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ change, cells }) => (
          <tr class={change ? `lx-change-${change}` : undefined}>
            {cells.map((cell) => (
              <td>{cell}</td>
            ))}
            <td class="lx-change">{change}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function schemaTable(entries: SchemaEntry[]) {
  return detailTable(
    ["column", "type", "null"],
    entries.map(({ path, type, nullable, change, before }) => ({
      change,
      cells: [fromTo(path, before?.path), fromTo(type, before?.type), nullable ? "may be null" : "never"],
    })),
  );
}

function indexTable(entries: IndexEntry[]) {
  return detailTable(
    ["index", "type", "columns", "covers"],
    entries.map(({ name, type, fields, segments, fragments, change }) => ({
      change,
      cells: [
        monospaced(name),
        visible(type),
        monospaced(fields.join(", ")),
        `${fragments === null ? "unknown fragments" : plural(fragments, "fragment")}${segments > 1 ? ` in ${plural(segments, "segment")}` : ""}`,
      ],
    })),
  );
}

function configTable(entries: ConfigEntry[]) {
  return detailTable(
    ["where", "key", "value"],
    entries.map(({ map, key, value, change, before }) => ({
      change,
      cells: [visible(map), monospaced(key), fromTo(value, before)],
    })),
  );
}

function monospaced(text: string) {
  return <code>{cut(text, 500)}</code>;
}

/** A value, after what it was before. */
function fromTo(now: string, before: string | null | undefined) {
  if (before === undefined || before === null) return monospaced(now);
  return (
    <span>
      <del>{monospaced(before)}</del> → {monospaced(now)}
    </span>
  );
}
