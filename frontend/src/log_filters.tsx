// What the commits of the log are filtered by: words, a column, a time, and their kinds.

import type { Signal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { kindColor, legendEntry, swatch } from "./legend";
import type { Link } from "./link";
import type { LogAnswer, LogFilters } from "./messages";
import { needing } from "./reactive";
import { count, visible } from "./text";

const PAUSE = 250; // ms, of typing

const MOST_NAMES = 3000; // of columns that the browser proposes

interface FilterProps {
  link: Link;
  filters: Signal<LogFilters>;
  /** Somebody has changed a filter. */
  onChange: () => void;
}

/** The boxes; `columns` are the names that are proposed. */
export function FilterBoxes({ link, filters, columns, onChange }: FilterProps & { columns: string[] }) {
  const names = useId();
  const typing = useRef(0);
  useEffect(() => () => clearTimeout(typing.current), []);
  const box = (name: "text" | "column" | "since", attributes: Record<string, string>) => (
    <input
      class="lx-input"
      spellcheck={false}
      value={filters.value[name] ?? ""}
      onInput={({ currentTarget }) => {
        filters.value = { ...filters.value, [name]: currentTarget.value };
        clearTimeout(typing.current);
        typing.current = window.setTimeout(onChange, PAUSE);
      }}
      {...attributes}
      {...needing(link)}
    />
  );
  return (
    <>
      {box("text", {
        class: "lx-input lx-log-text",
        type: "search",
        placeholder: "Filter: words, author, tag, branch",
        "aria-label": "Show commits that say this",
      })}
      {box("column", {
        list: names,
        placeholder: "touches column",
        "aria-label": "Show commits that can have changed this column",
      })}
      <datalist id={names}>
        {columns.slice(0, MOST_NAMES).map((name) => (
          <option value={visible(name)} />
        ))}
      </datalist>
      {box("since", {
        placeholder: "since: yesterday, 2026-11-22",
        "aria-label": "Show commits made since then, in UTC",
        title: "A day or time in UTC, 3 hours ago, yesterday, a version or a tag",
      })}
    </>
  );
}

/** A button for each kind of commit. */
export function KindFilters({
  link,
  filters,
  onChange,
  of,
}: FilterProps & { of: Pick<LogAnswer, "counts" | "kinds"> }) {
  function toggle(name: string) {
    const chosen = new Set(filters.value.operation);
    if (!chosen.delete(name)) chosen.add(name);
    filters.value = { ...filters.value, operation: [...chosen] };
    onChange();
  }
  return (
    <div class="lx-legend lx-log-kinds" role="group" aria-label="Kinds of commits">
      {Object.entries(of.counts).map(([name, number]) => (
        <button
          key={name}
          class="lx-log-kind"
          data-kind={name}
          aria-pressed={filters.value.operation?.includes(name) ?? false}
          title={`Show only commits of this kind: ${name}`}
          onClick={() => toggle(name)}
          {...needing(link)}
        >
          {legendEntry(swatch(kindColor(of, of.kinds.indexOf(name))), `${name} ${count(number)}`)}
        </button>
      ))}
    </div>
  );
}
