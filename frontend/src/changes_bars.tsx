// How many rows differ, by class and by column: bars that narrow the rows below.

import { useSignal } from "@preact/signals";
import type { Cells, ChangeClass, Comparison } from "./messages";
import { set } from "./reactive";
import { count, cut, plural } from "./text";

/** Which rows to show: those of one class, those that differ in one column. */
export interface RowChoice {
  change?: string | null;
  column?: string | null;
}

/** A bar that narrows the rows to some of them. */
interface Bar {
  label: string;
  value: string;
  num_rows: number | null;
  text: string;
  color: string;
  isPicked: boolean;
  hint: string;
}

const FEW_COLUMNS = 8;

interface BarsProps {
  about: Comparison;
  onPick: (choice: RowChoice) => void;
}

/** How many rows differ, by class and by column. */
export function ComparisonBars({ about: { classes, cells, change, column, unchanged }, onPick }: BarsProps) {
  return (
    <>
      <BarList
        name="Rows by class"
        title="Rows by what happened to them"
        note={unchanged === null ? "" : `${plural(unchanged, "row")} unchanged`}
        bars={classBars(classes ?? [], change)}
        onPick={(picked) => onPick({ change: picked })}
      />
      <BarList
        name="Rows by column"
        title="Columns that differ in updated rows"
        note={cells ? columnNote(cells) : "comparing cells…"}
        bars={cells ? columnBars(cells, column) : []}
        onPick={(picked) => onPick({ column: picked })}
      />
    </>
  );
}

interface ListProps {
  name: string;
  title: string;
  note: string;
  bars: Bar[];
  onPick: (value: string | null) => void;
}

/** A list of bars, each a button that narrows the rows. */
function BarList({ name, title, note, bars, onPick }: ListProps) {
  const isLong = useSignal(false);
  const longest = bars.reduce((most, bar) => Math.max(most, bar.num_rows ?? 0), 0);
  const shown = isLong.value ? bars : bars.filter((bar, i) => i < FEW_COLUMNS || bar.isPicked);
  return (
    <section class="lx-bar-list">
      <h4>{title}</h4>
      <div role="group" aria-label={name}>
        {shown.map(({ label, value, num_rows, text, color, isPicked, hint }) => {
          const share = num_rows ? Math.max(0.6, (100 * num_rows) / longest) : 0;
          return (
            <button
              key={value}
              class="lx-line-button lx-bar-button"
              aria-pressed={isPicked}
              disabled={num_rows === 0 && !isPicked}
              title={hint}
              data-name={value}
              onClick={() => onPick(isPicked ? null : value)}
            >
              <span class="lx-bar-label">{cut(label, 60)}</span>
              <span class="lx-bar-track">
                <span class="lx-bar-fill" style={{ width: `${share}%`, background: color }} />
              </span>
              <span class="lx-bar-count">{text}</span>
            </button>
          );
        })}
      </div>
      {bars.length > FEW_COLUMNS && (
        <button class="lx-button lx-small" onClick={() => set(isLong, !isLong.value)}>
          {isLong.value ? "Show fewer" : `Show all ${count(bars.length)}`}
        </button>
      )}
      {note && <p class="lx-quiet lx-bars-note">{note}</p>}
    </section>
  );
}

/** The classes as bars; what differs only in place or by a new column stands last. */
function classBars(classes: ChangeClass[], change: string | null): Bar[] {
  const hints: Record<string, string> = {
    inserted: "rows that only the later version has",
    deleted: "rows that only the earlier version has",
    updated: "rows whose values changed",
    column_rewritten: "rows whose only change is a rewritten column",
    column_added: "rows whose only change is an added column",
    moved: "rows that only moved to another address",
  };
  return classes
    .filter(
      ({ name, num_rows }) => num_rows !== "0" || ["inserted", "updated", "deleted"].includes(name) || name === change,
    )
    .map(({ name, color, num_rows }) => ({
      label: name.replace("_", " "),
      value: name,
      color,
      isPicked: name === change,
      hint: `${hints[name]}; click to see only these`,
      num_rows: num_rows === null ? null : Number(num_rows),
      text: num_rows === null ? "unknown" : count(num_rows),
    }));
}

function columnBars(cells: Cells, column: string | null): Bar[] {
  return cells.columns
    .filter(({ name, num_rows }) => num_rows !== "0" || name === column)
    .map(({ name, num_rows, presence }) => ({
      label: presence === "both" ? name : `${name} (${presence})`,
      value: name,
      color: "var(--lx-kind-update)",
      isPicked: name === column,
      hint: `rows in which ${cut(name, 100)} differs; click to see only these`,
      num_rows: Number(num_rows),
      text: count(num_rows),
    }));
}

/** What to know about the columns: of how many rows they are counted, and which have equal values. */
function columnNote(cells: Cells) {
  const notes = [];
  if (cells.num_compared !== cells.num_rows)
    notes.push(`The first ${count(cells.num_compared)} of ${count(cells.num_rows)} rows were compared.`);
  if (cells.num_rows === "0") notes.push("No row that both versions have differs in its values.");
  else if (cells.num_equal !== "0")
    notes.push(
      `${plural(cells.num_equal, "row")} ${cells.num_equal === "1" ? "was" : "were"} written with the values ${cells.num_equal === "1" ? "it" : "they"} had.`,
    );
  return notes.join(" ");
}
