// The indices of one version as cards, the state of the fragment reuse index, and what to do.

import { stepOf } from "./keys";
import type { IndexFacts, VersionIndices } from "./messages";
import { bytes, count, cut, finePercent, known, plural, visible } from "./text";

interface CardsProps {
  facts: IndexFacts[];
  chosen: string | null;
  onChoose: (name: string) => void;
}

/** The indices of a version, of which one is drawn. */
export function IndexCards({ facts, chosen, onChoose }: CardsProps) {
  const isHere = facts.some(({ name }) => name === chosen);
  function pressed(event: KeyboardEvent) {
    const step = stepOf(event.key, { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 });
    const cards = [...(event.currentTarget as Element).querySelectorAll("button")];
    const at = cards.indexOf(event.target as HTMLButtonElement);
    if (!step || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = cards[(at + step + cards.length) % cards.length];
    next.focus();
    next.click();
  }
  return (
    <div class="lx-index-cards" role="radiogroup" aria-label="Index to draw" onKeyDown={pressed} hidden={!facts.length}>
      {facts.map((one, i) => (
        <Card
          key={one.name}
          facts={one}
          isChosen={one.name === chosen}
          isReached={isHere ? one.name === chosen : i === 0}
          onChoose={onChoose}
        />
      ))}
    </div>
  );
}

interface CardProps {
  facts: IndexFacts;
  isChosen: boolean;
  /** Whether the Tab key comes to it. */
  isReached: boolean;
  onChoose: (name: string) => void;
}

function Card({ facts, isChosen, isReached, onChoose }: CardProps) {
  const share = shareOf(facts);
  return (
    <button
      class="lx-index-card"
      role="radio"
      aria-checked={isChosen}
      tabIndex={isReached ? 0 : -1}
      onClick={() => onChoose(facts.name)}
    >
      <span class="lx-index-head">
        <strong class="lx-index-name">{cut(facts.name, 80)}</strong>
        <span class="lx-quiet">
          {visible(facts.type)} on {facts.fields.map((field) => cut(field, 60)).join(", ") || "no field"}
        </span>
        <span class="lx-index-share">{share === null ? "unknown" : finePercent(share)}</span>
      </span>
      <span class="lx-index-track">
        {share !== null && (
          <>
            <i class="lx-index-covered" style={{ width: `${100 * share}%` }} />
            <i class="lx-index-open" style={{ width: `${100 * (1 - share)}%` }} />
          </>
        )}
      </span>
      <span class="lx-index-facts">
        {cardFacts(facts).map((fact) => (
          <span>{fact}</span>
        ))}
      </span>
    </button>
  );
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

const REUSE_HEADS = ["compaction", "after version", "fragments", "rows moved", "caught up", "still needed by"];

/** The fragment reuse index: what it keeps, and for whom. */
export function reusePanel({ reuse, num_reuse_entries: total, reuse_bytes: size }: VersionIndices) {
  const cutOff = total > reuse.length ? `, the oldest ${count(reuse.length)} of ${count(total)} are shown` : "";
  const list = (items: string[] | null, nothing: string) =>
    items === null ? "unknown" : items.map((name) => cut(name, 60)).join(", ") || nothing;
  return (
    <>
      <div class="lx-reuse-head">
        <h4>Fragment reuse index</h4>
        <span class="lx-quiet">
          {plural(total, "deferred compaction")} for which indices translate addresses when read, {bytes(size)}
          {cutOff}
        </span>
      </div>
      <div class="lx-scroll">
        <table class="lx-table">
          <thead>
            <tr>
              {REUSE_HEADS.map((name) => (
                <th scope="col">{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {reuse.map(({ kind, dataset_version, num_old, num_new, rows_moved, caught_up, behind }) => (
              <tr>
                <td>{visible(kind)}</td>
                <td class="lx-number">{known(dataset_version, count)}</td>
                <td class="lx-number">
                  {count(num_old)} → {count(num_new)}
                </td>
                <td class="lx-number">{known(rows_moved, count)}</td>
                <td>{list(caught_up, "none")}</td>
                <td>
                  {behind?.length === 0 ? <span class="lx-quiet">no index: it can be trimmed</span> : list(behind, "")}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
