// The values of each changed column, before and after, as pairs of bars.

import "./changed_values.css";
import type { ChangedColumn } from "./messages";
import { count, cut, percent, plural, visible } from "./text";
import type { Tooltip } from "./tooltip";

const MOST_LABELS = 6; // of bars that each have one

/** What the bars of a column are about, in words. */
export function changedWords({ num_rows, num_read, nulls }: ChangedColumn) {
  const rows =
    num_read === num_rows ? plural(num_rows, "row") : `the first ${count(num_read)} of ${plural(num_rows, "row")}`;
  const [before, after] = nulls.map((number) => percent(number / Number(num_read)));
  return nulls[0] || nulls[1] ? `in ${rows}; null ${before} → ${after}` : `in ${rows}`;
}

/** The bars of a column, for those who do not see them. */
export function barWords({ name, bars }: ChangedColumn) {
  const pairs = bars.map(({ label, before, after }) => `${label}: ${count(before)} before, ${count(after)} after`);
  return `${name}, before and after. ${pairs.join("; ")}`;
}

/** The values of the columns that differ. */
export function changedValues(style: string, columns: ChangedColumn[], tip: Tooltip) {
  const drawn = columns.filter(({ bars }) => bars.length);
  return (
    drawn.length > 0 && (
      <section class={style} aria-label="Values before and after">
        <h4>
          Values before and after
          <span class="lx-quiet">
            <i class="lx-was" />
            {"before "}
            <i class="lx-is" />
            after
          </span>
        </h4>
        <div class="lx-changed-columns">{drawn.map((column) => picture(column, tip))}</div>
      </section>
    )
  );
}

function picture(column: ChangedColumn, tip: Tooltip) {
  const { name, bars } = column;
  const most = Math.max(1, ...bars.flatMap(({ before, after }) => [before, after]));
  const part = (number: number) => (number ? Math.max(0.03, number / most) : 0);
  const pairs = bars.map(({ label, before, after }) => (
    <span
      class="lx-pair"
      onMouseMove={(event) =>
        tip.show(event, <strong>{cut(label, 80)}</strong>, `\n${count(before)} before, ${count(after)} after`)
      }
      onMouseLeave={() => tip.hide()}
    >
      <i class="lx-was" style={{ "--lx-part": part(before) }} />
      <i class="lx-is" style={{ "--lx-part": part(after) }} />
    </span>
  ));
  const isEach = bars.length <= MOST_LABELS;
  const labelled = isEach ? bars : [bars[0], bars[bars.length - 1]];
  return (
    <figure>
      <figcaption>
        <strong>{cut(name, 60)}</strong> <span class="lx-quiet">{changedWords(column)}</span>
      </figcaption>
      <div class="lx-pairs" role="img" aria-label={cut(barWords(column), 2000)}>
        {pairs}
      </div>
      <div class={`lx-pair-labels lx-quiet ${isEach ? "lx-each" : ""}`} aria-hidden="true">
        {labelled.map(({ label }) => (
          <span>{label === "" ? "empty" : visible(label)}</span>
        ))}
      </div>
    </figure>
  );
}
