// What else a version has: rows, schema, indices and configuration, each on a tab.

/**
 * The tabs: `element`, `showDetails(details)`, `showRows(page)`, `wait()` while the version moves.
 * `onRows(first)` is called when rows from another place are wanted.
 */
function versionTabs({ onRows }) {
  const names = ["rows", "schema", "indices", "config"];
  const panels = new Map(names.map((name) => [name, node("div", { class: "lx-panel", role: "tabpanel", "data-panel": name })]));
  const tabs = new Map(names.map((name) => [name, tabButton(name)]));
  const bar = node("div", { class: "lx-tabs", role: "tablist" }, ...tabs.values());
  const element = node("div", { class: "lx-version-tabs" }, bar, ...panels.values());
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const at = names.findIndex((name) => tabs.get(name) === event.target);
    open(names[(at + step + names.length) % names.length]).focus();
  });
  open("rows");

  function tabButton(name) {
    return node("button", { class: "lx-tab", role: "tab", "data-tab": name, onclick: () => open(name) }, title(name));
  }

  function open(chosen) {
    for (const name of names) {
      panels.get(name).hidden = name !== chosen;
      setAttributes(tabs.get(name), { "aria-selected": name === chosen, tabindex: name === chosen ? 0 : -1 });
    }
    return tabs.get(chosen);
  }

  function label(name, total, changed) {
    const tab = tabs.get(name);
    tab.replaceChildren(title(name), node("span", { class: "lx-quiet" }, ` ${count(total)}`));
    if (changed) tab.append(node("span", { class: "lx-badge", title: `${plural(changed, "change")} in this version` }, `${count(changed)} changed`));
  }

  return {
    element,
    wait() {
      for (const panel of panels.values()) panel.classList.add("lx-stale");
    },
    showDetails(details) {
      const draw = { schema: schemaTable, indices: indexTable, config: configTable };
      for (const [name, table] of Object.entries(draw)) {
        const { entries, num_entries: total, num_there: there, num_changed: changed } = details[name];
        const panel = panels.get(name);
        panel.classList.remove("lx-stale");
        panel.replaceChildren(entries.length ? node("div", { class: "lx-scroll" }, table(entries)) : nothing(name));
        if (entries.length < total) panel.append(node("p", { class: "lx-quiet" }, `${count(entries.length)} of ${count(total)} entries, changed ones first`));
        label(name, there, changed);
      }
    },
    showRows(page, total) {
      const panel = panels.get("rows");
      panel.classList.remove("lx-stale");
      panel.replaceChildren(...(page.problem ? [refusal(page.problem)] : rowPage(page, total, onRows)));
      label("rows", total ?? "?", 0);
    },
  };
}

function title(name) {
  return name[0].toUpperCase() + name.slice(1);
}

function nothing(name) {
  const words = { schema: "No columns.", indices: "No indices in this version.", config: "No configuration and no metadata in this version." };
  return node("p", { class: "lx-quiet" }, words[name]);
}

function refusal(problem) {
  return node("p", { class: "lx-refusal", role: "note" }, node("strong", {}, "No rows: "), cut(problem, 2000));
}

function detailTable(headings, rows) {
  const body = rows.map(({ change, cells }) =>
    node("tr", { class: change ? `lx-change-${change}` : null }, ...cells.map((cell) => node("td", {}, cell)), node("td", { class: "lx-change" }, change)));
  return node("table", { class: "lx-details" },
    node("thead", {}, node("tr", {}, ...[...headings, "in this version"].map((heading) => node("th", { scope: "col" }, heading)))),
    node("tbody", {}, ...body));
}

function schemaTable(entries) {
  return detailTable(["column", "type", "null"], entries.map(({ path, type, nullable, change, before }) => ({
    change,
    cells: [fromTo(path, before?.path), fromTo(type, before?.type), nullable ? "may be null" : "never"],
  })));
}

function indexTable(entries) {
  return detailTable(["index", "type", "columns", "covers"], entries.map(({ name, type, fields, segments, fragments, change }) => ({
    change,
    cells: [
      monospaced(name), visible(type), monospaced(fields.join(", ")),
      `${fragments === null ? "unknown fragments" : plural(fragments, "fragment")}${segments > 1 ? ` in ${plural(segments, "segment")}` : ""}`,
    ],
  })));
}

function configTable(entries) {
  return detailTable(["where", "key", "value"], entries.map(({ map, key, value, change, before }) => ({
    change,
    cells: [visible(map), monospaced(key), fromTo(value, before)],
  })));
}

function monospaced(text) {
  return node("code", {}, cut(text, 500));
}

/** A value, after what it was before. */
function fromTo(now, before) {
  if (before === undefined) return monospaced(now);
  return node("span", {}, node("del", {}, monospaced(before)), " → ", monospaced(now));
}

/** One page of rows, with buttons to the ones before and after; `total` is null if unknown. */
function rowPage({ columns, num_columns: numColumns, cells, first }, total, onRows) {
  const head = columns.map(({ name, type, numeric }) => node("th", { scope: "col", class: numeric ? "lx-number" : null, title: cut(`${name}: ${type}`) },
    node("div", {}, cut(name, 60)), node("div", { class: "lx-type" }, cut(type, 40))));
  const body = cells.map((row) => node("tr", {}, ...row.map((cell, i) => rowCell(cell, columns[i].numeric))));
  const last = first + cells.length;
  const page = (text, to, enabled) => node("button", { class: "lx-button lx-small", disabled: !enabled, onclick: () => onRows(to) }, text);
  const isAll = first === 0 && (total === null ? cells.length < PAGE_ROWS : last >= total);
  const of = total === null ? "" : ` of ${count(total)}`;
  return [
    node("div", { class: "lx-scroll" }, node("table", { class: "lx-row-page" }, node("thead", {}, node("tr", {}, ...head)), node("tbody", {}, ...body))),
    node("div", { class: "lx-pages" },
      isAll ? null : page("Earlier", Math.max(0, first - PAGE_ROWS), first > 0),
      isAll ? null : page("Later", last, total === null ? cells.length === PAGE_ROWS : last < total),
      node("span", { class: "lx-quiet" }, cells.length ? `rows ${count(first + 1)} to ${count(last)}${of}` : "no rows in this version"),
      columns.length < numColumns ? node("span", { class: "lx-quiet" }, `${count(columns.length)} of ${count(numColumns)} columns`) : null),
  ];
}

function rowCell(text, numeric) {
  if (text === null) return node("td", { class: numeric ? "lx-null lx-number" : "lx-null" }, "null");
  return node("td", { class: numeric ? "lx-number" : null }, visible(text));
}
