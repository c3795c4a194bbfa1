// What else a version has: rows, schema, indices and configuration, each on a tab.

import { awaited } from "./awaited";
import type { Child } from "./elements";
import { fill, node, setAttributes } from "./elements";
import { stepOf } from "./keys";
import type { ConfigEntry, Details, Entries, IndexEntry, SchemaEntry } from "./messages";
import { count, cut, plural, visible } from "./text";

type TabName = "rows" | keyof Details;

const NAMES: TabName[] = ["rows", "schema", "indices", "config"];

function byName<Made>(make: (name: TabName) => Made): Record<TabName, Made> {
  return Object.fromEntries(NAMES.map((name) => [name, make(name)])) as Record<TabName, Made>;
}

/**
 * The tabs around the grid of rows: `element`, `showDetails(details)`, `showRows(total, problem)`,
 * `wait()` while the version moves.
 */
export function versionTabs(grid: HTMLElement) {
  const panels = byName((name) => node("div", { class: "lx-panel", role: "tabpanel", "data-panel": name }));
  const shown = byName((name) => awaited(panels[name]));
  const tabs = byName(tabButton);
  const bar = node("div", { class: "lx-tabs", role: "tablist" }, ...Object.values(tabs));
  const element = node("div", { class: "lx-version-tabs" }, bar, ...Object.values(panels));
  bar.addEventListener("keydown", (event) => {
    const step = stepOf(event.key, { ArrowLeft: -1, ArrowRight: 1 });
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const at = NAMES.findIndex((name) => tabs[name] === event.target);
    open(NAMES[(at + step + NAMES.length) % NAMES.length]).focus();
  });
  fill(panels.rows, grid); // it says that rows are read
  open("rows");
  const all = awaited(element);

  function tabButton(name: TabName): HTMLButtonElement {
    return node("button", { class: "lx-tab", role: "tab", "data-tab": name, onclick: () => open(name) }, title(name));
  }

  function open(chosen: TabName): HTMLButtonElement {
    for (const name of NAMES) {
      panels[name].hidden = name !== chosen;
      setAttributes(tabs[name], { "aria-selected": name === chosen, tabindex: name === chosen ? 0 : -1 });
    }
    return tabs[chosen];
  }

  function label(name: TabName, total: number | string, changed: number) {
    const tab = tabs[name];
    fill(tab, title(name), node("span", { class: "lx-quiet" }, ` ${count(total)}`));
    if (changed)
      tab.append(
        node(
          "span",
          { class: "lx-badge", title: `${plural(changed, "change")} in this version` },
          `${count(changed)} changed`,
        ),
      );
  }

  function showEntries(name: keyof Details, about: Entries<unknown>, table: HTMLElement) {
    const { entries, num_entries: total, num_there: there, num_changed: changed } = about;
    const panel = panels[name];
    all.come();
    shown[name].come();
    fill(panel, entries.length ? node("div", { class: "lx-scroll" }, table) : nothing(name));
    if (entries.length < total) {
      panel.append(
        node("p", { class: "lx-quiet" }, `${count(entries.length)} of ${count(total)} entries, changed ones first`),
      );
    }
    label(name, there, changed);
  }

  return {
    element,
    wait() {
      for (const name of NAMES) shown[name].wait();
    },
    showDetails(details: Details) {
      const { schema, indices, config } = details;
      showEntries("schema", schema, schemaTable(schema.entries));
      showEntries("indices", indices, indexTable(indices.entries));
      showEntries("config", config, configTable(config.entries));
    },
    showRows(total: number | null, problem: string | undefined) {
      all.come();
      shown.rows.come();
      fill(panels.rows, problem ? refusal(problem) : grid);
      label("rows", total ?? "?", 0);
    },
  };
}

function title(name: string) {
  return name[0].toUpperCase() + name.slice(1);
}

function nothing(name: keyof Details) {
  const words = {
    schema: "No columns.",
    indices: "No indices in this version.",
    config: "No configuration and no metadata in this version.",
  };
  return node("p", { class: "lx-quiet" }, words[name]);
}

export function refusal(problem: string) {
  return node("p", { class: "lx-refusal", role: "note" }, node("strong", {}, "No rows: "), cut(problem, 2000));
}

function detailTable(headings: string[], rows: { change: string | null; cells: Child[] }[]) {
  const body = rows.map(({ change, cells }) =>
    node(
      "tr",
      { class: change ? `lx-change-${change}` : null },
      ...cells.map((cell) => node("td", {}, cell)),
      node("td", { class: "lx-change" }, change),
    ),
  );
  return node(
    "table",
    { class: "lx-table lx-details" },
    node(
      "thead",
      {},
      node("tr", {}, ...[...headings, "in this version"].map((heading) => node("th", { scope: "col" }, heading))),
    ),
    node("tbody", {}, ...body),
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
  return node("code", {}, cut(text, 500));
}

/** A value, after what it was before. */
function fromTo(now: string, before: string | undefined) {
  if (before === undefined) return monospaced(now);
  return node("span", {}, node("del", {}, monospaced(before)), " → ", monospaced(now));
}
