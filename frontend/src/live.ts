// Following a table that is written to: asks Python now and then to look for new versions, as long as somebody
// can see the explorer, and says what was found.

import "./live.css";
import { fill, node, setAttributes } from "./elements";
import type { Link } from "./link";
import type { Live } from "./messages";
import type { Model } from "./model";
import { cut } from "./text";

const UNSEEN = 2_000; // ms until it is asked again whether the explorer is in sight: here, not in Python
const FAILED = 60_000; // ms after Python failed to answer
const LEFT = 2 * 3_600_000; // ms without a hand on the page, after which nobody is taken to be there

/** Whether an element is laid out, and a part of it within the window. */
function isInSight(element: HTMLElement) {
  if (document.hidden) return false;
  const { top, bottom, width } = element.getBoundingClientRect();
  return width > 0 && bottom > 0 && top < innerHeight;
}

/**
 * The button that turns it on and off, `element`, and what is said: `news`, a button that leads to the newest version,
 * and `note`; `close()` ends it all.
 */
export function following(link: Link, model: Model) {
  let timer: number | undefined;
  let isAsking = false;
  let isClosed = false;
  let lastTouch = Date.now();
  let closed = ""; // the note that was closed

  const light = node("i", { class: "lx-live-light" });
  const element = node(
    "button",
    { class: "lx-button lx-small lx-live", onclick: () => link.ask("follow", { on: !live().is_on }) },
    light,
    "Live",
  );
  const news = node("button", {
    class: "lx-button lx-small lx-live-news",
    hidden: true,
    onclick: () => link.ask("newest"),
  });
  const words = node("span", {});
  const note = node(
    "div",
    { class: "lx-note lx-live-note", role: "status", hidden: true },
    words,
    node(
      "button",
      {
        class: "lx-explorer-clear",
        title: "Close",
        "aria-label": "Close",
        onclick: () => {
          closed = live().note;
          show();
        },
      },
      "✕",
    ),
  );
  const told = node("span", { role: "status" }, news);

  function live(): Live {
    return model.get("live");
  }

  function show() {
    const { is_on, news: new_words, note: text, latest } = live();
    setAttributes(element, {
      "aria-pressed": String(is_on),
      title: is_on
        ? "New versions are shown as they come. Click to stop that."
        : "New versions are not looked for. Click to follow the table.",
    });
    if (news.textContent !== new_words) fill(news, new_words);
    news.hidden = !new_words;
    news.title = `Show version ${latest}`;
    if (!text) closed = "";
    words.textContent = text ? cut(text, 400) : "";
    note.hidden = !text || text === closed;
    link.root.dataset.latest = latest;
  }

  function again(wait: number) {
    clearTimeout(timer);
    if (!isClosed && live().is_on) timer = setTimeout(look, wait);
  }

  async function look() {
    if (isAsking || isClosed) return;
    if (!isInSight(link.root) || Date.now() - lastTouch > LEFT) {
      again(UNSEEN);
      return;
    }
    isAsking = true;
    const failed = () => {
      isAsking = false;
      again(FAILED);
    };
    const { wait } = await link.ask<{ wait: number }>("look", {}, failed, true);
    isAsking = false;
    again(wait);
  }

  function follow() {
    show();
    if (!live().is_on) clearTimeout(timer);
    else if (!isOn) again(0);
    isOn = live().is_on;
  }
  let isOn = live().is_on;

  const touched = () => {
    lastTouch = Date.now();
  };
  const TOUCHES = ["pointermove", "pointerdown", "keydown", "wheel"] as const;
  for (const touch of TOUCHES) document.addEventListener(touch, touched, { passive: true });
  model.on("change:live", follow);
  show();
  again(live().wait);
  return {
    element,
    news: told,
    note,
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (const touch of TOUCHES) document.removeEventListener(touch, touched);
      model.off("change:live", follow);
    },
  };
}
