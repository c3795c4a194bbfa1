// The values of each changed column, before and after, as pairs of bars.

import "./changed_values.css";
import { fill, node } from "./elements";
import type { ChangedColumn, ChangedValues, Comparison } from "./messages";
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

/** `element`, and `follow(about)` with the newest comparison; `ask()` gives the values of its rows. */
export function changedValues(tip: Tooltip, ask: () => Promise<ChangedValues>) {
  let shown = ""; // which versions and key the values are of
  const list = node("div", { class: "lx-changed-columns" });
  const element = node(
    "section",
    { class: "lx-changed-values", "aria-label": "Values before and after", hidden: true },
    node(
      "h4",
      {},
      "Values before and after",
      node(
        "span",
        { class: "lx-quiet" },
        node("i", { class: "lx-was" }),
        "before ",
        node("i", { class: "lx-is" }),
        "after",
      ),
    ),
    list,
  );

  function show(columns: ChangedColumn[]) {
    const drawn = columns.filter(({ bars }) => bars.length);
    element.hidden = !drawn.length;
    fill(list, ...drawn.map((column) => picture(column, tip)));
  }

  return {
    element,
    async follow({ begin, end, key, cells, classes }: Comparison) {
      const wanted = JSON.stringify([begin, end, key]);
      if (shown === wanted) return;
      if (!classes || !cells) {
        show([]);
        return;
      }
      shown = wanted;
      const differs = cells.columns.some(({ num_rows }) => num_rows !== "0");
      const got = differs ? await ask() : null;
      if (shown === wanted) show(got && got.begin === begin && got.end === end ? got.columns : []);
    },
  };
}

function picture(column: ChangedColumn, tip: Tooltip) {
  const { name, bars } = column;
  const most = Math.max(1, ...bars.flatMap(({ before, after }) => [before, after]));
  const part = (number: number) => (number ? Math.max(0.03, number / most) : 0);
  const pairs = bars.map(({ label, before, after }) =>
    node(
      "span",
      {
        class: "lx-pair",
        onmousemove: (event) =>
          tip.show(event, node("strong", {}, cut(label, 80)), `\n${count(before)} before, ${count(after)} after`),
        onmouseleave: () => tip.hide(),
      },
      node("i", { class: "lx-was", style: { "--lx-part": part(before) } }),
      node("i", { class: "lx-is", style: { "--lx-part": part(after) } }),
    ),
  );
  const isEach = bars.length <= MOST_LABELS;
  const labelled = isEach ? bars : [bars[0], bars[bars.length - 1]];
  return node(
    "figure",
    {},
    node(
      "figcaption",
      {},
      node("strong", {}, cut(name, 60)),
      " ",
      node("span", { class: "lx-quiet" }, changedWords(column)),
    ),
    node("div", { class: "lx-pairs", role: "img", "aria-label": cut(barWords(column), 2000) }, ...pairs),
    node(
      "div",
      { class: `lx-pair-labels lx-quiet ${isEach ? "lx-each" : ""}`, "aria-hidden": "true" },
      ...labelled.map(({ label }) => node("span", {}, label === "" ? "empty" : visible(label))),
    ),
  );
}
