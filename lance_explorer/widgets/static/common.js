// What every view uses: elements, text, formats, the line to Python, errors, canvas, tooltip,
// clipboard.
// Joined in front of a view's own module; see view.py.

// ------------------------------------------------------------------------------------- elements

/**
 * Make an element. Properties: `class`, `style` (an object), `dataset`, `on...` (listeners), other
 * names are attributes (null and false leave them out). Children: nodes, or anything else as text.
 */
function node(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "style") setStyle(made, value);
    else if (name === "dataset") Object.assign(made.dataset, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function setStyle(element, style) {
  for (const [name, value] of Object.entries(style)) element.style.setProperty(name, value);
}

// ----------------------------------------------------------------------------------------- text

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
const SHORT_ESCAPES = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Return text with everything spelled out that cannot be seen or turns the line around. */
function visible(text) {
  return String(text).replace(UNSEEN, (c) => {
    if (SHORT_ESCAPES[c]) return SHORT_ESCAPES[c];
    const code = c.codePointAt(0).toString(16);
    if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
    return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
  });
}

/** Return visible text of bounded length, which says how much of it is shown. */
function cut(text, longest = 200) {
  const characters = String(text);
  if (characters.length <= longest) return visible(characters);
  const shown = visible(characters.slice(0, longest));
  return `${shown}… (${count(longest)} of ${count(characters.length)} characters)`;
}

/** Return a whole number (number, bigint or decimal string) with thousands parted. */
function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Return "3 rows", "1 row". */
function plural(number, noun, nouns = `${noun}s`) {
  return `${count(number)} ${String(number) === "1" ? noun : nouns}`;
}

/** Return a size in bytes as a person says it: 1.4 GB. */
function bytes(size) {
  if (size === null || size === undefined) return "unknown size";
  let value = Number(size);
  if (value < 1000) return plural(value, "byte");
  const units = ["kB", "MB", "GB", "TB", "PB", "EB"];
  let unit = -1;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Return a time (ISO text in UTC) as 2026-11-21 08:01:07 UTC. */
function absoluteTime(iso) {
  return iso ? `${iso.slice(0, 19).replace("T", " ")} UTC` : "at an unknown time";
}

/** Return how long ago a time (ISO text in UTC) was: "3 days ago". */
function relativeTime(iso, now = Date.now()) {
  if (!iso) return "";
  const seconds = (Date.parse(iso.endsWith("Z") || /[+-]\d\d:\d\d$/.test(iso) ? iso : `${iso}Z`) - now) / 1000;
  const units = [["year", 31556952], ["month", 2629746], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? units.at(-1);
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(Math.round(seconds / length), unit);
}

// --------------------------------------------------------------------------- the line to Python

/**
 * Join a view to its model. Gives:
 *   root                  the element to fill
 *   ask(kind, arguments, onError)
 *                      a promise of the answer: its content, with `buffers`. It never comes if a
 *                      newer question of the same kind has overtaken it, or if Python failed: then
 *                      `onError` gets the failure ({title, message}) and a function that shows it
 *                      in the error pane, where it goes without `onError`
 *   state              the shared state: numbers as decimal strings, null where nothing is chosen
 *   setState(changes)  changes it, here at once and then in Python
 *   onState(listener)  calls the listener with the state now and after every change; while the view
 *                      is not on the page, or hidden, when it is seen again
 *   open(view, changes) shows another view, and changes the state; canOpen(view): is there one?
 *   leadTo(view, text, changes)
 *                      a button that does so, or null if there is no such view
 *   on(kind, listener) calls the listener with what Python tells unasked
 *   busy(text)         shows that something takes long; null ends that
 *   showError(error)   the error pane, for failures of the view itself
 *   close()            what `render` returns
 */
function connect(model, el) {
  const asker = Array.from(crypto.getRandomValues(new Uint32Array(2)), (n) => n.toString(36)).join("");
  const questions = new Map(); // the newest of each kind, and all changes of the state
  const listeners = [];
  const news = new Map();
  const errors = errorPane();
  const progress = progressBar();
  const root = node("div", { class: "lx-body" });
  const label = model.get("label");
  const among = label ? { role: "tabpanel", "aria-label": label } : {};
  const frame = node("div", { class: "lx", "data-lm-suppress-shortcuts": "true", ...among }, progress.element, errors.element, root);
  // Notebook 7 asks only the focused element whether it wants its keys for itself.
  frame.addEventListener("focusin", ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "true"));
  el.append(frame);
  let seq = 0;
  let { revision, ...state } = model.get("shared");
  let changesOnTheWay = 0;

  function send(question, onReply, onError) {
    seq += 1;
    const mine = seq;
    model.send({ ...question, seq: mine, asker });
    return { seq: mine, onReply, onError };
  }

  function ask(kind, args = {}, onError = null) {
    return new Promise((resolve) => {
      const put = () => questions.set(kind, send({ ...args, kind }, resolve, fail));
      const show = (content) => errors.show(kind, content, put);
      const fail = (content) => (onError ? onError(content, show) : show(content));
      put();
    });
  }

  // A view that is not seen works for nobody: what it misses is made up for when it is seen again.
  let wasSeen = false; // it is filled before it is on the page
  let isSeen = false;
  let isBehind = false;
  const sight = new ResizeObserver(() => {
    isSeen = frame.getClientRects().length > 0;
    wasSeen ||= isSeen;
    if (isSeen && isBehind) tell();
  });
  sight.observe(frame);

  function tell() {
    isBehind = wasSeen && !(isSeen && frame.getClientRects().length);
    if (!isBehind) for (const listener of listeners) listener(state);
  }

  // Every change of the state is answered, also one that a newer one has overtaken: until the last
  // of them has come back, what Python says about the state is older than what is shown.
  function setState(changes) {
    state = { ...state, ...changes };
    const settle = (content) => {
      changesOnTheWay -= 1;
      revision = Math.max(revision, content.revision ?? 0);
      takeOver();
    };
    changesOnTheWay += 1;
    const sent = send({ kind: "state", changes }, settle, (content) => {
      settle(content);
      errors.show("state", content);
    });
    questions.set(`state ${sent.seq}`, sent);
    tell();
  }

  function takeOver() {
    const { revision: toldRevision, ...told } = model.get("shared");
    if (changesOnTheWay || toldRevision < revision) return; // answers overtake the shared state
    if (Object.keys(told).every((name) => told[name] === state[name])) return;
    state = told;
    tell();
  }

  function receive(message, buffers) {
    if (message.what === "news") {
      news.get(message.kind)?.(message.content);
      return;
    }
    const kind = message.kind === "state" ? `state ${message.seq}` : message.kind;
    const question = questions.get(kind);
    if (message.asker !== asker || question?.seq !== message.seq) return;
    if (message.what === "progress") {
      progress.show(kind, message.content);
      return;
    }
    progress.hide(kind);
    errors.hide(message.kind);
    questions.delete(kind);
    if (message.what === "error") question.onError(message.content);
    else question.onReply({ ...message.content, buffers });
  }

  function openView(view, changes = {}) {
    progress.show("go", { text: "opening…", fraction: null });
    return ask("go", { view, changes });
  }

  function canOpen(view) {
    return model.get("opens").includes(view);
  }

  model.on("msg:custom", receive);
  model.on("change:shared", takeOver);

  return {
    root,
    ask,
    get state() {
      return state;
    },
    setState,
    onState(listener) {
      listeners.push(listener);
      listener(state);
    },
    open: openView,
    canOpen,
    leadTo(view, text, changes) {
      return canOpen(view) ? node("button", { class: "lx-button lx-small", onclick: () => openView(view, changes) }, text) : null;
    },
    on: (kind, listener) => news.set(kind, listener),
    busy: (text) => (text === null ? progress.hide("busy") : progress.show("busy", { text, fraction: null })),
    showError: (error) => errors.show("view", { title: error.name, message: error.message, details: error.stack }),
    close() {
      model.off("msg:custom", receive);
      model.off("change:shared", takeOver);
      sight.disconnect();
      questions.clear();
      frame.remove();
    },
  };
}

// ------------------------------------------------------------------------- errors, and progress

/** Errors by kind of question, each with what failed and how to go on. */
function errorPane() {
  const element = node("div", { class: "lx-errors", role: "alert" });
  const shown = new Map();
  function hide(kind) {
    shown.get(kind)?.remove();
    shown.delete(kind);
  }
  function show(kind, { title, message, details }, again) {
    hide(kind);
    const retry = again && node("button", { class: "lx-button", onclick: () => { hide(kind); again(); } }, "Try again");
    const entry = node(
      "div",
      { class: "lx-error" },
      node("strong", {}, visible(title)),
      node("span", { class: "lx-error-message" }, cut(message, 2000)),
      details ? node("details", {}, node("summary", {}, "Details for a bug report"), node("pre", {}, String(details))) : null,
      node("div", { class: "lx-error-actions" }, retry, node("button", { class: "lx-button", onclick: () => hide(kind) }, "Dismiss")),
    );
    shown.set(kind, entry);
    element.append(entry);
  }
  return { element, show, hide };
}

/** A line on top of the view while something takes long. */
function progressBar() {
  const bar = node("div", { class: "lx-progress-bar" });
  const text = node("span", { class: "lx-progress-text" });
  const element = node("div", { class: "lx-progress", role: "status", hidden: true }, bar, text);
  const running = new Map();
  function draw() {
    const newest = [...running.values()].at(-1);
    element.hidden = !newest;
    if (!newest) return;
    text.textContent = visible(newest.text);
    bar.classList.toggle("lx-unknown", newest.fraction === null);
    bar.style.width = newest.fraction === null ? "" : `${100 * newest.fraction}%`;
  }
  return {
    element,
    show(kind, content) {
      running.set(kind, content);
      draw();
    },
    hide(kind) {
      running.delete(kind);
      draw();
    },
  };
}

// --------------------------------------------------------------------------------------- canvas

/**
 * A canvas that is sharp on every screen and as wide as its place. `draw(context, width, height)`
 * is called in CSS pixels, once a frame at most; `redraw()` asks for it.
 */
function canvas(height, draw) {
  const element = node("canvas", { class: "lx-canvas", style: { height: `${height}px` } });
  const context = element.getContext("2d");
  let asked = false;
  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      const width = element.clientWidth;
      const scale = globalThis.devicePixelRatio || 1;
      if (!width) return;
      const [wide, high] = [Math.round(width * scale), Math.round(element.clientHeight * scale)];
      if (element.width !== wide || element.height !== high) [element.width, element.height] = [wide, high];
      context.setTransform(scale, 0, 0, scale, 0, 0);
      context.clearRect(0, 0, width, element.clientHeight);
      draw(context, width, element.clientHeight);
    });
  }
  const observer = new ResizeObserver(redraw);
  observer.observe(element);
  return { element, redraw, close: () => observer.disconnect() };
}

/** Return a colour of the theme by its name in common.css, such as "ink". */
function themeColor(element, name) {
  return getComputedStyle(element).getPropertyValue(`--lx-${name}`).trim();
}

/** Call the listener when the page changes between light and dark; return how to stop. */
function onTheme(listener) {
  const media = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(listener);
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-name", "data-jp-theme-light", "class"] });
  media.addEventListener("change", listener);
  // JupyterLab names the theme before its style sheet has come.
  const loaded = ({ target }) => target.tagName === "LINK" && listener();
  document.addEventListener("load", loaded, true);
  return () => {
    observer.disconnect();
    media.removeEventListener("change", listener);
    document.removeEventListener("load", loaded, true);
  };
}

// -------------------------------------------------------------------------------------- tooltip

/** A box beside the pointer: `show(event, ...children)`, `hide()`. */
function tooltip(root) {
  const element = node("div", { class: "lx-tooltip", role: "tooltip", hidden: true });
  root.append(element);
  return {
    element,
    show({ clientX, clientY }, ...children) {
      element.replaceChildren(...children);
      element.hidden = false;
      const { width, height } = element.getBoundingClientRect();
      const left = Math.min(clientX + 12, document.documentElement.clientWidth - width - 8);
      const below = clientY + 16;
      const top = below + height < document.documentElement.clientHeight ? below : clientY - height - 8;
      setStyle(element, { left: `${Math.max(4, left)}px`, top: `${Math.max(4, top)}px` });
    },
    hide() {
      element.hidden = true;
    },
  };
}

// ------------------------------------------------------------------------------------ clipboard

/** Copy text, also where the page is not from a secure place; tell whether that worked. */
async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = node("textarea", { style: { position: "fixed", opacity: 0 } });
    area.value = text;
    const before = document.activeElement;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    before?.focus();
    return isCopied;
  }
}
