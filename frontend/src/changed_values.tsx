// The values of each changed column, before and after, as pairs of bars.

import "./changed_values.css";
import { sectionOf } from "./answer_sections";
import type { Link } from "./link";
import type { ChangedColumn, ChangedValues } from "./messages";
import { LeadTo } from "./reactive";
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
export function barWords({ name, bars, is_cosine }: ChangedColumn) {
  if (is_cosine) {
    const words = bars.map(({ label, after }) => `from ${label}: ${plural(after, "row")}`);
    return `${name}, cosine between before and after. ${words.join("; ")}`;
  }
  const pairs = bars.map(({ label, before, after }) => `${label}: ${count(before)} before, ${count(after)} after`);
  return `${name}, before and after. ${pairs.join("; ")}`;
}

/** The values of the columns that differ; and whole columns, folded. */
export function changedValues(style: string, found: ChangedValues | null, tip: Tooltip, link: Link) {
  const drawn = found?.columns.filter(({ bars }) => bars.length) ?? [];
  const whole = found?.whole;
  return (
    <>
      {pictures(style, drawn, tip, link)}
      {whole && (
        <details class={`${style} lx-whole-columns`}>
          <summary>{whole.title}</summary>
          {sectionOf({ ...whole, title: "" })}
        </details>
      )}
    </>
  );
}

function pictures(style: string, drawn: ChangedColumn[], tip: Tooltip, link: Link) {
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
        <div class="lx-changed-columns">{drawn.map((column) => picture(column, tip, link))}</div>
      </section>
    )
  );
}

function picture(column: ChangedColumn, tip: Tooltip, link: Link) {
  const { name, bars, words, is_cosine, movers } = column;
  const most = Math.max(1, ...bars.flatMap(({ before, after }) => [before, after]));
  const part = (number: number) => (number ? Math.max(0.03, number / most) : 0);
  const pairs = bars.map(({ label, before, after }) => (
    <span
      class="lx-pair"
      onMouseMove={(event) =>
        tip.show(
          event,
          <strong>{cut(label, 80)}</strong>,
          is_cosine ? `\n${plural(after, "row")}` : `\n${count(before)} before, ${count(after)} after`,
        )
      }
      onMouseLeave={() => tip.hide()}
    >
      {!is_cosine && <i class="lx-was" style={{ "--lx-part": part(before) }} />}
      <i class="lx-is" style={{ "--lx-part": part(after) }} />
    </span>
  ));
  const isEach = bars.length <= MOST_LABELS;
  const labelled = isEach ? bars : [bars[0], bars[bars.length - 1]];
  return (
    <figure>
      <figcaption>
        <strong>{cut(name, 60)}</strong> <span class="lx-quiet">{changedWords(column)}</span>
        {words && <div class="lx-quiet">{words}</div>}
      </figcaption>
      <div class="lx-pairs" role="img" aria-label={cut(barWords(column), 2000)}>
        {pairs}
      </div>
      <div class={`lx-pair-labels lx-quiet ${isEach ? "lx-each" : ""}`} aria-hidden="true">
        {labelled.map(({ label }) => (
          <span>{label === "" ? "empty" : visible(label)}</span>
        ))}
      </div>
      {movers.length > 0 && link.canOpen("row") && (
        <div class="lx-quiet">
          {"furthest: "}
          {movers.map((row) => (
            <LeadTo link={link} view="row" changes={{ row_id: row }}>
              row {count(row)}
            </LeadTo>
          ))}
        </div>
      )}
    </figure>
  );
}
