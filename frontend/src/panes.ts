// Errors, and how far something is.

import { node } from "./elements";
import type { Failure, Progress } from "./messages";
import { cut, visible } from "./text";

/** Errors by kind of question, each with what failed and how to go on. */
export function errorPane() {
  const element = node("div", { class: "lx-errors", role: "alert" });
  const shown = new Map<string, HTMLElement>();
  function hide(kind: string) {
    shown.get(kind)?.remove();
    shown.delete(kind);
  }
  function show(kind: string, { title, message, details }: Failure, again: (() => void) | null = null) {
    hide(kind);
    const retry =
      again &&
      node(
        "button",
        {
          class: "lx-button",
          onclick: () => {
            hide(kind);
            again();
          },
        },
        "Try again",
      );
    const entry = node(
      "div",
      { class: "lx-error" },
      node("strong", {}, visible(title)),
      node("span", { class: "lx-error-message" }, cut(message, 2000)),
      details
        ? node("details", {}, node("summary", {}, "Details for a bug report"), node("pre", {}, String(details)))
        : null,
      node(
        "div",
        { class: "lx-error-actions" },
        retry,
        node("button", { class: "lx-button", onclick: () => hide(kind) }, "Dismiss"),
      ),
    );
    shown.set(kind, entry);
    element.append(entry);
  }
  return { element, show, hide };
}

const LONGEST_LABEL = 80; // characters; more are a paragraph

/** A line on top of the view while something takes long. */
export function progressBar() {
  const bar = node("div", { class: "lx-progress-bar" });
  const text = node("span", { class: "lx-progress-text" });
  const element = node("div", { class: "lx-progress", role: "status", hidden: true }, bar, text);
  const running = new Map<string, Progress>();
  const waiting = new Set<string>(); // those of which Python has said nothing
  function draw() {
    const newest = [...running.values()].at(-1);
    element.hidden = !newest;
    if (!newest) return;
    text.textContent = visible(newest.text);
    element.classList.toggle("lx-sentence", newest.text.length > LONGEST_LABEL);
    bar.classList.toggle("lx-unknown", newest.fraction === null);
    bar.style.width = newest.fraction === null ? "" : `${100 * newest.fraction}%`;
  }
  return {
    element,
    show(kind: string, content: Progress) {
      waiting.delete(kind);
      running.set(kind, content);
      draw();
    },
    /** Says that there is no answer yet, unless Python has said what it does. */
    wait(kind: string, text: string) {
      if (running.has(kind) && !waiting.has(kind)) return;
      waiting.add(kind);
      running.set(kind, { text, fraction: null });
      draw();
    },
    hide(kind: string) {
      waiting.delete(kind);
      running.delete(kind);
      draw();
    },
  };
}
