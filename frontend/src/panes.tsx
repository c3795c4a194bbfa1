// Errors, and how far something is.

import { signal } from "@preact/signals";
import type { Failure, Progress } from "./messages";
import { cut, visible } from "./text";

/** Errors by kind of question, each with what failed and how to go on: `show`, `hide`, and `Errors`, which draws them. */
export function errorPane() {
  const shown = signal(new Map<string, Failure & { again: (() => void) | null }>());

  function hide(kind: string) {
    if (!shown.value.has(kind)) return;
    const others = new Map(shown.value);
    others.delete(kind);
    shown.value = others;
  }

  function show(kind: string, failure: Failure, again: (() => void) | null = null) {
    hide(kind);
    shown.value = new Map(shown.value).set(kind, { ...failure, again });
  }

  const Errors = () => (
    <div class="lx-errors" role="alert">
      {[...shown.value].map(([kind, { title, message, details, again }]) => (
        <div key={kind} class="lx-error">
          <strong>{visible(title)}</strong>
          <span class="lx-error-message">{cut(message, 2000)}</span>
          {details && (
            <details>
              <summary>Details for a bug report</summary>
              <pre>{details}</pre>
            </details>
          )}
          <div class="lx-error-actions">
            {again && (
              <button
                class="lx-button"
                onClick={() => {
                  hide(kind);
                  again();
                }}
              >
                Try again
              </button>
            )}
            <button class="lx-button" onClick={() => hide(kind)}>
              Dismiss
            </button>
          </div>
        </div>
      ))}
    </div>
  );
  return { Errors, show, hide };
}

/** How long something is going to take, once enough of it is done to tell; `taken` in ms. */
export function leftWords({ fraction }: Progress, taken: number) {
  if (fraction === null || fraction < 0.05 || taken < 2000) return "";
  const seconds = ((1 - fraction) / fraction) * (taken / 1000);
  return seconds < 1.5
    ? ""
    : `, about ${seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`} left`;
}

const LONGEST_LABEL = 80; // characters; more are a paragraph

/** A line on top of the view while something takes long: `show`, `wait`, `hide`, and `Bar`, which draws it. */
export function progressBar() {
  const running = signal(new Map<string, Progress & { isSilent?: boolean; begun: number }>());
  const add = (kind: string, content: Progress & { isSilent?: boolean }) => {
    const { text, begun } = running.value.get(kind) ?? {};
    const now = performance.now();
    const next = { ...content, begun: text === content.text && begun !== undefined ? begun : now };
    running.value = new Map(running.value).set(kind, next);
  };

  function Bar() {
    const newest = [...running.value.values()].at(-1);
    const { text = "", fraction = null } = newest ?? {};
    const left = newest ? leftWords(newest, performance.now() - newest.begun) : "";
    return (
      <div
        class={text.length > LONGEST_LABEL ? "lx-progress lx-sentence" : "lx-progress"}
        role="status"
        hidden={!newest}
      >
        <div
          class={fraction === null ? "lx-progress-bar lx-unknown" : "lx-progress-bar"}
          style={{ width: fraction === null ? "" : `${100 * fraction}%` }}
        />
        <span class="lx-progress-text">
          {visible(text)}
          {left}
        </span>
      </div>
    );
  }

  return {
    Bar,
    show: (kind: string, content: Progress) => add(kind, { ...content, isSilent: false }),
    /** Says that there is no answer yet, unless Python has said what it does. */
    wait(kind: string, text: string) {
      if (running.value.get(kind)?.isSilent ?? true) add(kind, { text, fraction: null, isSilent: true });
    },
    hide(kind: string) {
      if (!running.value.has(kind)) return;
      const others = new Map(running.value);
      others.delete(kind);
      running.value = others;
    },
  };
}
