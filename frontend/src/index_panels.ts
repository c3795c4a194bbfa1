// The indices of one version as cards, the state of the fragment reuse index, and what to do.

import { fill, node } from "./elements";
import { stepOf } from "./keys";
import type { IndexFacts, VersionIndices } from "./messages";
import { bytes, count, cut, finePercent, plural, visible } from "./text";

/** The cards: `element`, `show(facts, chosen)`. `onChoose(name)` is called with an index. */
export function indexCards({ onChoose }: { onChoose: (name: string) => void }) {
  const element = node("div", { class: "lx-index-cards", role: "radiogroup", "aria-label": "Index to draw" });
  element.addEventListener("keydown", (event) => {
    const step = stepOf(event.key, { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 });
    const cards = [...element.querySelectorAll("button")];
    const at = cards.indexOf(event.target as HTMLButtonElement);
    if (!step || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = cards[(at + step + cards.length) % cards.length];
    next.focus();
    next.click();
  });

  function card(facts: IndexFacts, chosen: string | null, others: boolean) {
    const isChosen = facts.name === chosen;
    const share = shareOf(facts);
    return node(
      "button",
      {
        class: "lx-index-card",
        role: "radio",
        "aria-checked": String(isChosen),
        tabindex: isChosen || !others ? "0" : "-1",
        onclick: () => onChoose(facts.name),
      },
      node(
        "span",
        { class: "lx-index-head" },
        node("strong", { class: "lx-index-name" }, cut(facts.name, 80)),
        node(
          "span",
          { class: "lx-quiet" },
          `${visible(facts.type)} on ${facts.fields.map((field) => cut(field, 60)).join(", ") || "no field"}`,
        ),
        node("span", { class: "lx-index-share" }, share === null ? "unknown" : finePercent(share)),
      ),
      node(
        "span",
        { class: "lx-index-track" },
        ...(share === null
          ? []
          : [
              node("i", { class: "lx-index-covered", style: { width: `${100 * share}%` } }),
              node("i", { class: "lx-index-open", style: { width: `${100 * (1 - share)}%` } }),
            ]),
      ),
      node("span", { class: "lx-index-facts" }, ...cardFacts(facts).map((fact) => node("span", {}, fact))),
    );
  }

  return {
    element,
    show(facts: IndexFacts[], chosen: string | null) {
      const isHere = facts.some(({ name }) => name === chosen);
      const focused = element.contains(document.activeElement);
      element.hidden = !facts.length;
      fill(element, ...facts.map((one) => card(one, chosen, isHere)));
      if (focused)
        (element.querySelector<HTMLElement>('[aria-checked="true"]') ?? element.querySelector("button"))?.focus();
    },
  };
}

/** The part of the rows that an index answers for, null if unknown; of fragments if rows are. */
function shareOf(facts: IndexFacts) {
  const parts = (found: string | null, rest: string | null) => {
    if (found === null || rest === null) return null;
    const total = Number(found) + Number(rest);
    return total ? Number(found) / total : 1;
  };
  return (
    parts(facts.num_rows_answered, facts.num_rows_to_scan) ??
    parts(facts.num_fragments_covered, facts.num_fragments_to_scan)
  );
}

function cardFacts(facts: IndexFacts) {
  const rows = (number: string | null) => (number === null ? "unknown rows" : plural(number, "row"));
  const made = `in the table since version ${facts.is_exact ? "" : "≤ "}${count(facts.created)}`;
  const again = facts.rebuilt === facts.created ? "" : `, last built in ${count(facts.rebuilt)}`;
  const lines = [];
  if (facts.num_fragments_covered === null) lines.push("coverage unknown");
  else {
    lines.push(`${rows(facts.num_rows_answered)} covered in ${plural(facts.num_fragments_covered, "fragment")}`);
    lines.push(
      facts.num_fragments_to_scan === "0"
        ? "nothing to scan"
        : `${rows(facts.num_rows_to_scan)} to scan in ${plural(facts.num_fragments_to_scan ?? "?", "fragment")}`,
    );
  }
  const removed = Number(facts.num_fragments_removed)
    ? `, ${plural(facts.num_fragments_removed ?? "?", "listed fragment")} removed`
    : "";
  lines.push(
    `${facts.num_stale_entries === null ? "stale entries unknown" : facts.num_stale_entries === "0" ? "no stale entries" : `up to ${plural(facts.num_stale_entries, "stale entry", "stale entries")}`}${removed}`,
  );
  lines.push(
    `${facts.size_bytes === null ? "size unknown," : `${bytes(facts.size_bytes)} in`} ${plural(facts.num_segments, "segment")}`,
  );
  lines.push(made + again);
  return lines;
}

/** The fragment reuse index: what it keeps, and for whom. */
export function reusePanel() {
  const body = node("tbody");
  const heading = node("h4", {}, "Fragment reuse index");
  const summary = node("span", { class: "lx-quiet" });
  const names = ["compaction", "after version", "fragments", "rows moved", "caught up", "still needed by"];
  const table = node(
    "table",
    { class: "lx-table" },
    node("thead", {}, node("tr", {}, ...names.map((name) => node("th", { scope: "col" }, name)))),
    body,
  );
  const element = node(
    "section",
    { class: "lx-reuse-panel" },
    node("div", { class: "lx-reuse-head" }, heading, summary),
    node("div", { class: "lx-scroll" }, table),
  );
  const list = (items: string[] | null, nothing: string) =>
    items === null ? "unknown" : items.map((name) => cut(name, 60)).join(", ") || nothing;
  return {
    element,
    show({ reuse, num_reuse_entries: total, reuse_bytes: size }: VersionIndices) {
      element.hidden = !reuse.length;
      const cutOff = total > reuse.length ? `, the oldest ${count(reuse.length)} of ${count(total)} are shown` : "";
      summary.textContent = `${plural(total, "deferred compaction")} for which indices translate addresses when read, ${bytes(size)}${cutOff}`;
      fill(
        body,
        ...reuse.map((entry) =>
          node(
            "tr",
            {},
            node("td", {}, visible(entry.kind)),
            node(
              "td",
              { class: "lx-number" },
              entry.dataset_version === null ? "unknown" : count(entry.dataset_version),
            ),
            node("td", { class: "lx-number" }, `${count(entry.num_old)} → ${count(entry.num_new)}`),
            node("td", { class: "lx-number" }, entry.rows_moved === null ? "unknown" : count(entry.rows_moved)),
            node("td", {}, list(entry.caught_up, "none")),
            node(
              "td",
              {},
              entry.behind?.length === 0
                ? node("span", { class: "lx-quiet" }, "no index: it can be trimmed")
                : list(entry.behind, ""),
            ),
          ),
        ),
      );
    },
  };
}
