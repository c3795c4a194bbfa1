// The picture of row-ID segments: a row for each fragment, or for several, of which one can be chosen.

import { canvas, lookOf, onTheme } from "./canvas";
import { setAttributes } from "./elements";
import { isCommand } from "./keys";
import { drawSegments, rowTall, SEGMENTS_HEAD, type ShownSegments, segmentsHeight } from "./segment_drawing";
import { rowAfter, rowOf } from "./segments";
import { count, plural } from "./text";
import { tooltip } from "./tooltip";

/**
 * The picture: `element`, `show({segments, one, id, mode, colors, version})`, or null for nothing, and
 * `close()`. `onSelect(id)` is called with the ID of a fragment as text, or null.
 */
export function segmentRows(root: HTMLElement, { onSelect }: { onSelect: (id: string | null) => void }) {
  let shown: ShownSegments | null = null;
  const picture = canvas(40, draw);
  const tip = tooltip(root);
  const element = picture.element;
  setAttributes(element, { role: "application", tabindex: "0", "aria-roledescription": "chart of fragments" });

  function draw(context: CanvasRenderingContext2D, width: number) {
    if (!shown?.segments.rows.length) return;
    drawSegments(context, shown, width, lookOf(element));
    element.dataset.drawn = `${shown.version} ${shown.id ?? ""} ${shown.mode}`;
  }

  // --- choosing

  function placeOf(event: MouseEvent) {
    const box = element.getBoundingClientRect();
    const numRows = shown?.segments.rows.length ?? 0;
    const row = Math.floor((event.clientY - box.top - SEGMENTS_HEAD) / rowTall(numRows));
    return row >= 0 && row < numRows ? row : -1;
  }

  function describe(row: number) {
    const [first, ...others] = (shown as ShownSegments).segments.row_words[row];
    return [<strong>{first}</strong>, ...others.map((line) => <div>{line}</div>)];
  }

  element.addEventListener("pointermove", (event) => {
    const row = placeOf(event);
    if (row < 0) tip.hide();
    else tip.show(event, describe(row));
  });
  element.addEventListener("pointerleave", () => tip.hide());
  element.addEventListener("click", (event) => {
    const row = placeOf(event);
    if (!shown || row < 0) return;
    const [id] = shown.segments.rows[row];
    const isChosen = shown.id !== null && rowOf(shown.segments, shown.id) === row;
    onSelect(isChosen ? null : id);
  });
  element.addEventListener("keydown", (event) => {
    if (!shown || isCommand(event)) return;
    const { rows } = shown.segments;
    const now = shown.id === null ? -1 : rowOf(shown.segments, shown.id);
    const row = rowAfter(event.key, now, rows.length);
    if (event.key === "Escape") {
      if (shown.id !== null) onSelect(null);
    } else if (row === null) return;
    else if (rows.length && row !== now) onSelect(rows[row][0]);
    event.preventDefault();
    event.stopPropagation();
  });
  const stopTheme = onTheme(() => picture.redraw());

  return {
    element,
    show(newest: ShownSegments | null) {
      shown = newest;
      element.style.height = `${segmentsHeight(shown)}px`;
      element.hidden = !shown?.segments.rows.length;
      const chosen =
        shown?.id === null || shown?.id === undefined ? "none chosen" : `fragment ${count(shown.id)} chosen`;
      setAttributes(element, {
        "aria-label": `Segments of ${plural(shown?.segments.rows.length ?? 0, "row")} of fragments, ${chosen}; arrow keys choose one`,
      });
      picture.redraw();
    },
    close() {
      stopTheme();
      picture.close();
    },
  };
}
