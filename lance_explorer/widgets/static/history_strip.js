// The history over versions: rows, commits by kind, tags and gaps; and the slider that runs along it.

const STRIP = { side: 10, tags: 20, chart: 54, commits: 18, axis: 20, widestGap: 12, narrowestBar: 3, pale: 0.4 };

/** Return the history from Python as arrays, with what the pictures ask it. */
function unpackHistory(content) {
  const arrays = unpackArrays(content);
  const { versions } = arrays;
  const positions = new Map(Array.from(versions, (version, position) => [String(version), position]));
  const firstLost = content.gaps.some(({ first }) => versions.length && BigInt(first) < versions[0]);
  return {
    ...content,
    ...arrays,
    count: versions.length,
    gapBefore: Array.from(versions, (version, p) => (p === 0 ? firstLost : version !== versions[p - 1] + 1n)),
    positionOf: (version) => positions.get(version),
    /** The last kept version up to one; -1 before all. */
    positionUpTo(version) {
      const exact = positions.get(version);
      if (exact !== undefined) return exact;
      const wanted = BigInt(version);
      return versions.findLastIndex((kept) => kept <= wanted);
    },
    operationAt: (p) => content.operations[p] ?? "unknown operation",
    timeAt: (p) => isoTime(arrays.times[p]),
    tagsAt: (p) => content.tags.filter(({ position }) => position === p).map(({ name }) => name),
  };
}

/** Text in which backticks enclose names and values. */
function rich(text) {
  return text.split("`").map((part, i) => (i % 2 ? node("code", {}, visible(part)) : part));
}

/** Where each kept version stands, from left to right; a gap of versions has a place of its own. */
function stripScale(history, width) {
  const { count: n, gapBefore } = history;
  const gaps = gapBefore.reduce((sum, gap) => sum + (gap ? 1 : 0), 0);
  const room = Math.max(1, width - 2 * STRIP.side);
  const gap = gaps ? Math.min(STRIP.widestGap, (0.25 * room) / gaps) : 0;
  const unit = (room - gap * gaps) / Math.max(1, n);
  const left = new Float64Array(n);
  let x = STRIP.side;
  for (let p = 0; p < n; p += 1) {
    if (gapBefore[p]) x += gap;
    left[p] = x;
    x += unit;
  }
  const center = (p) => left[p] + unit / 2;
  /** The version nearest to a place. */
  function positionAt(place) {
    let [low, high] = [0, n - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (left[middle] <= place) low = middle;
      else high = middle - 1;
    }
    if (low + 1 < n && place - center(low) > center(low + 1) - place) low += 1;
    return low;
  }
  return { unit, gap, left, center, positionAt };
}

/**
 * The strip: `element`, `setHistory(history)`, `show(position)`, `close()`. `onMove(position)` is
 * called when the user moves the slider, `describe(position)` gives what the tooltip says.
 */
function historyStrip(root, { onMove, describe }) {
  let history = null;
  let position = 0;
  let scale = null;
  const height = () => (history?.tags.length ? STRIP.tags : 6) + STRIP.chart + STRIP.commits + STRIP.axis;
  const picture = canvas(100, drawPicture);
  const cursor = canvas(100, drawCursor);
  const tip = tooltip(root);
  const element = node(
    "div",
    { class: "lx-strip", role: "slider", tabindex: "0", "aria-label": "Version", "aria-orientation": "horizontal" },
    picture.element,
    cursor.element,
  );

  function drawPicture(context, width) {
    if (!history?.count) return;
    scale = stripScale(history, width);
    const top = history.tags.length ? STRIP.tags : 6;
    drawRows(context, history, scale, top);
    drawCommits(context, history, scale, top + STRIP.chart);
    drawGaps(context, history, scale, top, STRIP.chart + STRIP.commits);
    drawTags(context, history, scale, width);
    cursor.redraw();
  }

  function drawCursor(context, width, tall) {
    if (!scale || !history?.count) return;
    const x = scale.center(position);
    const bottom = tall - STRIP.axis;
    const accent = themeColor(element, "accent");
    context.fillStyle = accent;
    context.fillRect(x - 1, history.tags.length ? STRIP.tags - 4 : 0, 2, bottom);
    const label = count(history.versions[position]);
    context.font = canvasFont(element, 600);
    const half = context.measureText(label).width / 2 + 7;
    const at = Math.min(Math.max(x, half), width - half);
    drawEnds(context, history, scale, width, tall - 5, [[at - half, at + half]]);
    context.fillStyle = accent;
    context.beginPath();
    context.moveTo(x - 5, bottom + 1);
    context.lineTo(x, bottom - 4);
    context.lineTo(x + 5, bottom + 1);
    context.fill();
    context.beginPath();
    context.roundRect(at - half, bottom, 2 * half, STRIP.axis - 1, 4);
    context.fill();
    context.font = canvasFont(element, 600);
    context.fillStyle = themeColor(element, "paper");
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(label, at, bottom + STRIP.axis / 2);
    element.dataset.drawn = String(history.versions[position]);
  }

  function moveTo(target) {
    const bounded = Math.min(Math.max(target, 0), history.count - 1);
    if (bounded !== position) onMove(bounded);
  }

  function onKey(event) {
    if (!history?.count || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(2, Math.round(history.count / 20));
    const targets = {
      ArrowLeft: position - 1, ArrowDown: position - 1, ArrowRight: position + 1, ArrowUp: position + 1,
      PageDown: position - page, PageUp: position + page, Home: 0, End: history.count - 1,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    event.stopPropagation();
    moveTo(targets[event.key]);
  }

  const place = (event) => scale.positionAt(event.clientX - element.getBoundingClientRect().left);
  element.addEventListener("keydown", onKey);
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !scale || !history?.count) return;
    element.setPointerCapture(event.pointerId);
    element.focus();
    tip.hide();
    moveTo(place(event));
  });
  element.addEventListener("pointermove", (event) => {
    if (!scale || !history?.count) return;
    if (element.hasPointerCapture(event.pointerId)) moveTo(place(event));
    else tip.show(event, ...describe(place(event)));
  });
  element.addEventListener("pointerleave", () => tip.hide());
  const stopTheme = onTheme(() => picture.redraw());

  return {
    element,
    setHistory(newest) {
      history = newest;
      for (const layer of [picture, cursor]) layer.element.style.height = `${height()}px`;
      element.style.height = `${height()}px`;
      setAttributes(element, { "aria-valuemin": 0, "aria-valuemax": Math.max(0, history.count - 1) });
      picture.redraw();
    },
    show(newest) {
      position = newest;
      const version = history.versions[position];
      setAttributes(element, { "aria-valuenow": position, "aria-valuetext": `version ${version}, ${visible(history.operationAt(position))}` });
      cursor.redraw();
    },
    close() {
      stopTheme();
      picture.close();
      cursor.close();
    },
  };
}

/** The live rows as a line in steps over a soft area; nothing where they are not known. */
function drawRows(context, history, scale, top) {
  const rows = history.num_rows;
  const highest = rows.reduce((most, value) => (value > most ? value : most), 0);
  const bottom = top + STRIP.chart - 4;
  const y = (value) => bottom - (highest ? (value / highest) * (STRIP.chart - 10) : 0);
  const accent = themeColor(context.canvas, "accent");
  context.lineWidth = 1.5;
  context.strokeStyle = accent;
  let begin = 0;
  while (begin < history.count) {
    if (Number.isNaN(rows[begin])) { begin += 1; continue; }
    const line = new Path2D();
    let end = begin;
    line.moveTo(scale.left[begin], y(rows[begin]));
    while (end < history.count && !Number.isNaN(rows[end]) && (end === begin || !history.gapBefore[end])) {
      if (end > begin) line.lineTo(scale.left[end], y(rows[end]));
      line.lineTo(scale.left[end] + scale.unit, y(rows[end]));
      end += 1;
    }
    const area = new Path2D(line);
    area.lineTo(scale.left[end - 1] + scale.unit, bottom);
    area.lineTo(scale.left[begin], bottom);
    context.globalAlpha = 0.14;
    context.fillStyle = accent;
    context.fill(area);
    context.globalAlpha = 1;
    context.stroke(line);
    begin = end;
  }
}

/** A bar for each commit in the colour of its kind; for several, kinds stacked, where they are many. */
function drawCommits(context, history, scale, top) {
  const step = versionsPerBar(scale);
  const single = Math.min(14, scale.unit - Math.min(2, scale.unit / 4));
  const tall = STRIP.commits - 6;
  for (let begin = 0; begin < history.count; begin += step) {
    const end = Math.min(begin + step, history.count);
    const [left, right] = step === 1
      ? [scale.center(begin) - single / 2, scale.center(begin) + single / 2]
      : [Math.round(scale.left[begin]), Math.round(scale.left[end - 1] + scale.unit)];
    const counts = new Map();
    for (let p = begin; p < end; p += 1) counts.set(history.kind[p], (counts.get(history.kind[p]) ?? 0) + 1);
    const isRecorded = history.is_recorded.subarray(begin, end).every((one) => one);
    let y = top + tall;
    for (const [kind, number] of [...counts].sort(([a], [b]) => a - b)) {
      const share = (tall * number) / (end - begin);
      context.fillStyle = kindColor(history, kind);
      context.globalAlpha = isRecorded ? STRIP.pale : 1;
      context.fillRect(left, y - share, right - left, share);
      y -= share;
    }
  }
  context.globalAlpha = 1;
}

function versionsPerBar(scale) {
  return scale.unit >= STRIP.narrowestBar ? 1 : Math.ceil(STRIP.narrowestBar / scale.unit);
}

function drawGaps(context, history, scale, top, tall) {
  context.strokeStyle = themeColor(context.canvas, "quiet");
  context.lineWidth = 1;
  context.setLineDash([2, 3]);
  for (let p = 0; p < history.count; p += 1) {
    if (!history.gapBefore[p]) continue;
    const x = Math.round(scale.left[p] - scale.gap / 2) + 0.5;
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, top + tall - 6);
    context.stroke();
  }
  context.setLineDash([]);
}

/** Tags as flags on their versions, with their names as far as there is room. */
function drawTags(context, history, scale, width) {
  context.font = canvasFont(context.canvas);
  context.textAlign = "left";
  context.textBaseline = "middle";
  const sorted = [...history.tags].sort((a, b) => a.position - b.position);
  let free = 0;
  for (const [i, { name, position }] of sorted.entries()) {
    const x = scale.center(position);
    context.fillStyle = themeColor(context.canvas, "quiet");
    context.fillRect(x - 0.5, 4, 1, STRIP.tags + STRIP.chart - 8);
    context.beginPath();
    context.moveTo(x, 3);
    context.lineTo(x + 7, 7);
    context.lineTo(x, 11);
    context.fill();
    const next = sorted[i + 1] ? scale.center(sorted[i + 1].position) - 4 : width;
    const label = shortened(context, visible(name.slice(0, 100)), next - x - 12);
    if (!label || x + 10 < free) continue;
    context.fillStyle = themeColor(context.canvas, "ink");
    context.fillText(label, x + 10, 8);
    free = x + 14 + context.measureText(label).width;
  }
}

/**
 * The first and the last version below the strip, and for how many a bar stands; nothing where one
 * of the labels lies, each from left to right.
 */
function drawEnds(context, history, scale, width, baseline, labels) {
  context.font = canvasFont(context.canvas);
  context.fillStyle = themeColor(context.canvas, "quiet");
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  const step = versionsPerBar(scale);
  const notes = [];
  if (step > 1) notes.push(`each bar: ${plural(step, "version")}`);
  if (history.is_recorded.includes(1)) notes.push("pale: known from the ledger");
  if (history.gapBefore.includes(true)) notes.push("┊ versions not kept");
  const isFree = (left, text) => labels.every(([begin, end]) => end < left - 2 || begin > left + context.measureText(text).width + 2);
  const write = (text, left) => isFree(left, text) && context.fillText(text, left, baseline);
  const first = count(history.versions[0]);
  write(first, STRIP.side);
  if (notes.length) write(`(${notes.join(", ")})`, STRIP.side + context.measureText(first).width + 10);
  if (history.count < 2) return;
  const last = count(history.versions[history.count - 1]);
  write(last, width - STRIP.side - context.measureText(last).width);
}
