// The history over versions with two handles on it: the range between them is what is compared.

import type { ComponentChildren } from "preact";
import { canvas, contextOf, onTheme } from "./canvas";
import { node, setAttributes, setStyle } from "./elements";
import type { History } from "./history";
import { isCommand, sliderTargets } from "./keys";
import { count, visible } from "./text";
import { tooltip } from "./tooltip";
import type { VersionScale } from "./version_axis";
import { drawCommits, drawEnds, drawGaps, drawRows, drawTags, STRIP, stripScale } from "./version_axis";

/**
 * The strip: `element`, `setHistory(history)`, `show(begin, end)` with versions as decimal strings,
 * `close()`. `onMove(which, position)` is called when the user moves a handle: 0 or 1, and the
 * position, -1 for the empty table before version 1. `describe(position)` gives the tooltip.
 */
export function rangeStrip(
  root: HTMLElement,
  {
    onMove,
    describe,
  }: { onMove: (which: number, position: number) => void; describe: (position: number) => ComponentChildren },
) {
  let history!: History;
  let scale!: VersionScale;
  let lowest = 0;
  const picture = canvas(100, drawPicture);
  const tip = tooltip(root);
  const band = node("div", { class: "lx-range-band" });
  const handles = ["One version to compare", "The other version to compare"].map((label, which) => {
    const text = node("span", { class: "lx-handle-label" });
    const element = node(
      "div",
      {
        class: "lx-handle",
        role: "slider",
        tabindex: "0",
        "aria-label": label,
        "aria-orientation": "horizontal",
        onkeydown: (event) => onKey(event, which),
      },
      text,
    );
    return { element, text, position: 0, version: null as string | null };
  });
  const element = node("div", { class: "lx-range" }, picture.element, band, ...handles.map((handle) => handle.element));

  const top = () => (history?.tags.length ? STRIP.tags : 6);
  const height = () => top() + STRIP.chart + STRIP.commits + STRIP.axis;
  const placeOf = (position: number) => (position < 0 ? STRIP.side / 2 : scale.center(position));

  function drawPicture(context: CanvasRenderingContext2D, width: number) {
    if (!history?.count) return;
    scale = stripScale(history, width);
    drawRows(context, history, scale, top());
    drawCommits(context, history, scale, top() + STRIP.chart);
    drawGaps(context, history, scale, top(), STRIP.chart + STRIP.commits);
    drawTags(context, history, scale, width);
    place();
  }

  /** Put the handles and the band where they belong; the labels never lie on each other. */
  function place() {
    if (!scale || handles.some((handle) => handle.version === null)) return;
    const width = element.clientWidth;
    const sorted = [...handles].sort(
      (a, b) => a.position - b.position || a.element.compareDocumentPosition(b.element) - 4,
    );
    const [left, right] = sorted.map((handle) => placeOf(handle.position));
    setStyle(band, { left: `${left}px`, width: `${right - left}px`, height: `${height() - STRIP.axis}px` });
    for (const [i, handle] of sorted.entries()) {
      setStyle(handle.element, { left: `${[left, right][i]}px`, height: `${height() - STRIP.axis}px` });
    }
    const [wide, alsoWide] = sorted.map((handle) => handle.text.offsetWidth);
    let begin = Math.min(Math.max(0, left - wide / 2), width - wide - alsoWide - 2);
    let end = Math.max(Math.min(right - alsoWide / 2, width - alsoWide), wide + 2);
    const overlap = begin + wide + 2 - end;
    if (overlap > 0) {
      begin = Math.max(0, begin - overlap / 2);
      end = begin + wide + 2;
    }
    sorted[0].text.style.left = `${begin - left}px`;
    sorted[1].text.style.left = `${end - right}px`;
    const context = contextOf(picture.element);
    context.clearRect(0, height() - STRIP.axis, width, STRIP.axis);
    drawEnds(context, history, scale, width, height() - 5, [
      [begin, begin + wide],
      [end, end + alsoWide],
    ]);
    element.dataset.drawn = sorted.map((handle) => handle.version).join(" ");
  }

  function moveTo(which: number, target: number) {
    const bounded = Math.min(Math.max(target, lowest), history.count - 1);
    if (bounded !== handles[which].position) onMove(which, bounded);
  }

  function onKey(event: KeyboardEvent, which: number) {
    if (!history?.count || isCommand(event)) return;
    const targets = sliderTargets(handles[which].position, lowest, history.count);
    if (!(event.key in targets)) return;
    event.preventDefault();
    event.stopPropagation();
    moveTo(which, targets[event.key]);
  }

  function positionOf(event: PointerEvent) {
    const x = event.clientX - element.getBoundingClientRect().left;
    return lowest < 0 && x < (placeOf(-1) + placeOf(0)) / 2 ? -1 : scale.positionAt(x);
  }

  function nearest(event: PointerEvent) {
    const x = event.clientX - element.getBoundingClientRect().left;
    const [one, other] = handles.map((handle) => placeOf(handle.position) - x);
    if (Math.abs(one) !== Math.abs(other)) return Math.abs(one) < Math.abs(other) ? 0 : 1;
    return one > 0 === handles[0].position <= handles[1].position ? 0 : 1;
  }

  let dragged = -1;
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !scale || !history?.count) return;
    dragged = nearest(event);
    element.setPointerCapture(event.pointerId);
    handles[dragged].element.focus();
    event.preventDefault();
    tip.hide();
    moveTo(dragged, positionOf(event));
  });
  element.addEventListener("pointermove", (event) => {
    if (!scale || !history?.count) return;
    if (element.hasPointerCapture(event.pointerId)) moveTo(dragged, positionOf(event));
    else tip.show(event, describe(positionOf(event)));
  });
  element.addEventListener("pointerleave", () => tip.hide());
  const stopTheme = onTheme(() => picture.redraw());

  return {
    element,
    setHistory(newest: History) {
      history = newest;
      lowest = history.count && history.versions[0] === 1n ? -1 : 0;
      for (const sized of [element, picture.element]) sized.style.height = `${height()}px`;
      for (const handle of handles)
        setAttributes(handle.element, { "aria-valuemin": lowest, "aria-valuemax": Math.max(0, history.count - 1) });
      picture.redraw();
    },
    /** Show versions; one that is not kept stands at the last kept one before it. */
    show(...versions: string[]) {
      versions.forEach((version, which) => {
        const handle = handles[which];
        handle.position = Math.max(lowest, history.positionUpTo(version));
        handle.version = version;
        handle.text.textContent = count(version);
        const isKept = history.positionOf(version) !== undefined;
        const words =
          version === "0" ? "the empty table" : isKept ? visible(history.operationAt(handle.position)) : "not kept";
        setAttributes(handle.element, {
          "aria-valuenow": handle.position,
          "aria-valuetext": `version ${version}, ${words}`,
        });
        handle.element.classList.toggle("lx-handle-lost", !isKept && version !== "0");
      });
      if (scale) place();
    },
    close() {
      stopTheme();
      picture.close();
    },
  };
}
