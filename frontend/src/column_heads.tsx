// What the head of a column tells of its values: a histogram or the values that are there most often.

import "./column_heads.css";
import type { ComponentChildren } from "preact";
import type { ColumnHead, ColumnHeads } from "./messages";
import { count, cut, percent, plural } from "./text";
import type { Tooltip } from "./tooltip";

const VALUES_IN_HEAD = 2;

/** Of which rows the heads tell. */
export function rowsOfHeads({ num_rows, num_total }: Pick<ColumnHeads, "num_rows" | "num_total">) {
  return num_rows === num_total
    ? `all ${plural(num_total, "row")}`
    : `the first ${count(num_rows)} of ${plural(num_total, "row")}`;
}

/** What a head shows, in sentences. */
export function headWords(head: ColumnHead, rows: Pick<ColumnHeads, "num_rows" | "num_total">): string[] {
  const nulls = head.num_nulls
    ? `${count(head.num_nulls)} null (${percent(head.num_nulls / rows.num_rows)})`
    : "no null";
  const words = [`Of ${rowsOfHeads(rows)}: ${nulls}`];
  if (head.num_distinct !== null) words.push(plural(head.num_distinct, "different value"));
  if (head.least !== null) words.push(`from ${head.least} to ${head.most}`, `median ${head.middle}`);
  if (!head.has_order && head.bars.length)
    words.push(`most often: ${head.bars.map(({ label, count: number }) => `${label} (${count(number)})`).join(", ")}`);
  return words;
}

/** The picture in the head of a column; more when the pointer comes to it, and a click with Ctrl or Cmd filters by a part of it. */
export function headPicture(head: ColumnHead, rows: ColumnHeads, tip: Tooltip, onFilter: (where: string) => void) {
  const most = Math.max(1, ...head.bars.map((bar) => bar.count));
  const picture = head.has_order ? histogram(head, most) : topValues(head, rows.num_rows);
  const share = rows.num_rows ? head.num_nulls / rows.num_rows : 0;
  const range = head.has_order
    ? head.least === null
      ? ""
      : rangeWords(head.least, head.most ?? "")
    : head.num_distinct === null
      ? ""
      : plural(head.num_distinct, "value");
  const words = headWords(head, rows);
  const barAt = (event: MouseEvent) => {
    const at = (event.target as Element).closest<HTMLElement>("[data-bar]")?.dataset.bar;
    return at === undefined ? null : head.bars[Number(at)];
  };
  const whereAt = (event: MouseEvent) =>
    (event.target as Element).closest(".lx-head-null") ? head.where_null : (barAt(event)?.where ?? null);
  const show = (event: MouseEvent) => {
    const bar = barAt(event);
    const lines: ComponentChildren[] = words.map((line) => <div>{cut(line, 300)}</div>);
    if (bar)
      lines.unshift(<strong>{`${head.has_order ? "from " : ""}${cut(bar.label, 60)}: ${count(bar.count)}`}</strong>);
    const where = whereAt(event);
    if (where) lines.push(<div>Ctrl and click: only {cut(where, 80)}</div>);
    tip.show(event, ...lines);
  };
  const press = (event: MouseEvent) => {
    const where = whereAt(event);
    if (where === null || !(event.ctrlKey || event.metaKey)) return;
    event.stopPropagation(); // else it sorts
    onFilter(where);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the box above takes the same filter
    <div class="lx-head" onMouseMove={show} onMouseLeave={() => tip.hide()} onClick={press}>
      {picture}
      <div class="lx-head-foot">
        <span class="lx-head-range">{cut(range, 60)}</span>
        {share ? <span class="lx-head-null">{`${briefPercent(share)} null`}</span> : null}
      </div>
    </div>
  );
}

/** From where to where, in few characters: the whole is in the words. */
export function rangeWords(least: string, most: string) {
  const ends = [least, most].map(brief);
  if (ends[0] !== ends[1]) return `${ends[0]} – ${ends[1]}`;
  return least === most ? ends[0] : `≈ ${ends[0]}`;
}

/** A part of 1 as percent, in few characters. */
export function briefPercent(share: number) {
  return share > 0 && share < 0.01 ? "< 1 %" : percent(share);
}

function brief(text: string) {
  if (/^\d{4}-\d\d-\d\d[ T]/.test(text)) return text.slice(0, 10);
  if (text.length < 8 || Number.isNaN(Number(text))) return text;
  const number = Number(text);
  return Math.abs(number) < 1e7 ? String(Number(number.toPrecision(3))) : number.toExponential(2).replace("e+", "e");
}

function histogram(head: ColumnHead, most: number) {
  const bars = head.bars.map(({ count: number }, i) => (
    <i data-bar={i} style={{ "--lx-part": number ? Math.max(0.04, number / most) : 0 }} />
  ));
  return (
    <div class="lx-head-bars" aria-hidden="true">
      {bars}
    </div>
  );
}

function topValues(head: ColumnHead, numRows: number) {
  const values = head.bars.slice(0, VALUES_IN_HEAD).map(({ label, count: number }, i) => (
    <div class="lx-head-value" data-bar={i} style={{ "--lx-part": number / Math.max(1, numRows) }}>
      <span>{label === "" ? "empty" : cut(label, 40)}</span>
      <span>{briefPercent(number / Math.max(1, numRows))}</span>
    </div>
  ));
  return (
    <div class="lx-head-values" aria-hidden="true">
      {values}
    </div>
  );
}
