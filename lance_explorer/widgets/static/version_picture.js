// A picture over versions: they run to the right, beside a margin for labels. It has a cursor on the
// chosen version, and rows of its own below, of which one can be chosen too.

const MARGIN = 66; // px, on the left

/**
 * The picture: `element`, `setHistory(history)`, `show(position, row)`, `redraw()`, `close()`.
 *
 *   label                     what it is called for those who do not see it
 *   height()                  how tall it is, in px
 *   draw(context, scale, width)   draws it, moved beside the margin
 *   drawMark(context, scale, width, row)  marks the chosen row, in the same place
 *   rowAt(y, position)        the row at a height, null for none
 *   nextRow(row, step, position)  the row that an arrow key leads to
 *   describe(position, row)   what the tooltip says: nodes
 *   words(position, row)      the same in short, for those who do not see it
 *   onMove(position, row)     called when the user chooses; row is undefined where it stays
 */
function versionPicture(root, given) {
  let history = null;
  let scale = null;
  let position = -1;
  let row = null;
  const picture = canvas(10, drawPicture);
  const cursor = canvas(10, drawCursor);
  const tip = tooltip(root);
  const element = node("div", { class: "lx-version-picture", role: "application", tabindex: "0", "aria-roledescription": "chart over versions" }, picture.element, cursor.element);

  function drawPicture(context, width) {
    if (!history?.count) return;
    scale = stripScale(history, width - MARGIN);
    context.translate(MARGIN, 0);
    given.draw(context, scale, width - MARGIN);
    cursor.redraw();
  }

  function drawCursor(context, width, tall) {
    if (!scale || position < 0) return;
    context.translate(MARGIN, 0);
    marginLabel(context, "version", tall - STRIP.axis / 2, themeColor(element, "quiet"));
    given.drawMark?.(context, scale, width - MARGIN, row);
    drawVersionCursor(context, history, scale, position, tall, width - MARGIN);
    element.dataset.drawn = `${history.versions[position]} ${row ?? ""}`;
  }

  function moveTo(target, newRow) {
    const bounded = Math.min(Math.max(target, 0), history.count - 1);
    if (bounded !== position || (newRow !== undefined && newRow !== row)) given.onMove(bounded, newRow);
  }

  function onKey(event) {
    if (!history?.count || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(2, Math.round(history.count / 20));
    const now = Math.max(position, 0);
    const targets = { ArrowLeft: now - 1, ArrowRight: now + 1, PageUp: now + page, PageDown: now - page, Home: 0, End: history.count - 1 };
    const steps = { ArrowUp: -1, ArrowDown: 1 };
    if (event.key in targets) moveTo(targets[event.key]);
    else if (event.key in steps && given.nextRow) moveTo(now, given.nextRow(row, steps[event.key], now));
    else if (event.key === "Escape" && row !== null) moveTo(now, null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function placeOf(event) {
    const box = element.getBoundingClientRect();
    const at = scale.positionAt(event.clientX - box.left - MARGIN);
    return [at, given.rowAt?.(event.clientY - box.top, at) ?? null];
  }

  element.addEventListener("keydown", onKey);
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !scale || !history?.count) return;
    element.setPointerCapture(event.pointerId);
    element.focus({ preventScroll: true });
    tip.hide();
    const [at, there] = placeOf(event);
    moveTo(at, there ?? undefined);
  });
  element.addEventListener("pointermove", (event) => {
    if (!scale || !history?.count) return;
    const [at, there] = placeOf(event);
    if (element.hasPointerCapture(event.pointerId)) moveTo(at);
    else tip.show(event, ...given.describe(at, there));
  });
  element.addEventListener("pointerleave", () => tip.hide());
  const stopTheme = onTheme(() => picture.redraw());

  function fit() {
    const tall = `${given.height()}px`;
    for (const sized of [element, picture.element, cursor.element]) sized.style.height = tall;
    picture.redraw();
  }

  return {
    element,
    setHistory(newest) {
      history = newest;
      scale = null;
      fit();
    },
    redraw: fit,
    show(newest, newRow) {
      [position, row] = [newest, newRow];
      setAttributes(element, { "aria-label": `${given.label}: ${given.words(position, row)}` });
      cursor.redraw();
    },
    close() {
      stopTheme();
      picture.close();
      cursor.close();
    },
  };
}

/** A line on a version from top to bottom, with its number in the axis. */
function drawVersionCursor(context, history, scale, position, tall, width) {
  const x = scale.center(position);
  const bottom = tall - STRIP.axis;
  context.fillStyle = themeColor(context.canvas, "accent");
  context.fillRect(x - 1, history.tags.length ? STRIP.tags - 4 : 0, 2, bottom - (history.tags.length ? STRIP.tags - 4 : 0));
  const label = count(history.versions[position]);
  context.font = canvasFont(context.canvas, 600);
  const half = context.measureText(label).width / 2 + 7;
  const at = Math.min(Math.max(x, half), width - half);
  drawEnds(context, history, scale, width, tall - 5, [[at - half, at + half]]);
  context.fillStyle = themeColor(context.canvas, "accent");
  context.font = canvasFont(context.canvas, 600);
  context.beginPath();
  context.roundRect(at - half, bottom, 2 * half, STRIP.axis - 1, 4);
  context.fill();
  context.fillStyle = themeColor(context.canvas, "paper");
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(label, at, bottom + STRIP.axis / 2);
}

/** Write a label into the margin. */
function marginLabel(context, text, y, color, weight = 400) {
  context.font = canvasFont(context.canvas, weight);
  context.fillStyle = color;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText(text, -10, y);
}

/** The kinds of commits that there are, with their colours, as entries of a legend. */
function kindLegend(history) {
  const there = [...new Set(history.kind)].sort((a, b) => a - b);
  return there.map((kind) => legendEntry(node("i", { class: "lx-swatch", style: { background: kindColor(history, kind) } }), history.kinds[kind] ?? "other"));
}

/** Return an ID that fits into the margin. */
function shortId(id) {
  return id.length > 8 ? `…${id.slice(-7)}` : count(id);
}
