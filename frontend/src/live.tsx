// Following a table that is written to: asks Python now and then to look for new versions, as long as somebody
// can see the explorer, and says what was found.

import "./live.css";
import { signal } from "@preact/signals";
import { CloseButton } from "./explorer_chips";
import type { Link } from "./link";
import type { ExplorerQuestions } from "./messages";
import type { Model } from "./model";
import { set } from "./reactive";
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

type LiveQuestions = Pick<ExplorerQuestions, "follow" | "look">;

/**
 * Looks for new versions. Returns what draws its switch, the button that shows the newest version, and notes;
 * `onNewest` shows that version.
 */
export function following(link: Link<LiveQuestions>, model: Model, onNewest: () => void) {
  let timer: number | undefined;
  let isAsking = false;
  let isClosed = false;
  let lastTouch = Date.now();
  const live = signal(model.get("live"));
  const closed = signal(""); // the note that was closed

  function Switch() {
    const { is_on } = live.value;
    const title = is_on
      ? "New versions are shown as they come. Click to stop that."
      : "New versions are not looked for. Click to look for them.";
    return (
      <button
        class="lx-button lx-small lx-live"
        hidden={Boolean(link.offline)}
        aria-pressed={is_on}
        title={title}
        onClick={() => link.ask("follow", { on: !is_on })}
      >
        <i class="lx-live-light" />
        Live
      </button>
    );
  }

  function News() {
    const { news, latest } = live.value;
    return (
      <span role="status">
        {news && (
          <button class="lx-button lx-small lx-live-news" title={`Show version ${latest}`} onClick={onNewest}>
            {news}
          </button>
        )}
      </span>
    );
  }

  function LiveNote() {
    const { note } = live.value;
    return note && note !== closed.value ? (
      <div class="lx-note lx-live-note" role="status">
        <span>{cut(note, 400)}</span>
        <CloseButton title="Close" onClick={() => set(closed, note)} />
      </div>
    ) : null;
  }

  function again(wait: number) {
    clearTimeout(timer);
    if (!isClosed && live.value.is_on) timer = setTimeout(look, wait);
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
    const { wait } = await link.ask("look", {}, failed, true);
    isAsking = false;
    again(wait);
  }

  function follow() {
    const wasOn = live.value.is_on;
    live.value = model.get("live");
    const { is_on, note, latest } = live.value;
    if (!note) closed.value = "";
    link.root.dataset.latest = latest;
    if (!is_on) clearTimeout(timer);
    else if (!wasOn) again(0);
  }

  const touched = () => {
    lastTouch = Date.now();
  };
  const TOUCHES = ["pointermove", "pointerdown", "keydown", "wheel"] as const;
  for (const touch of TOUCHES) document.addEventListener(touch, touched, { passive: true });
  model.on("change:live", follow);
  follow();
  again(live.value.wait);
  return {
    Switch,
    News,
    LiveNote,
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (const touch of TOUCHES) document.removeEventListener(touch, touched);
      model.off("change:live", follow);
    },
  };
}
