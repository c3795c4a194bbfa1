// The line from a view to Python: questions, answers, news, and the shared state.

import "./common.css";
import { h, render } from "preact";
import { unpackArrays } from "./arrays";
import { node } from "./elements";
import type { Changes, Failure, News, Progress, Revision, State, ViewMessage, ViewQuestions } from "./messages";
import type { Model } from "./model";
import { errorPane, progressBar } from "./panes";
import { joinState } from "./shared_state";

/** The questions of a view: of each kind its arguments, and the answer. */
export type Questions<Asked> = Record<keyof Asked, [object, object]>;

/** Failure of a question, and what shows it in the error pane. */
type OnFailure = (failure: Failure, show: (failure: Failure) => void) => void;

interface Sent {
  seq: number;
  onReply: (content: object) => void;
  onError: (content: Failure) => void;
  /** Whether Python has taken the question on. */
  isTaken: boolean;
}

interface Asking<out Asked extends Questions<Asked>> {
  ask<Kind extends keyof Asked & string>(
    kind: Kind,
    args?: Asked[Kind][0],
    onError?: OnFailure | null,
    isQuiet?: boolean,
  ): Promise<Asked[Kind][1]>;
}

/** A line that takes these questions, and perhaps others. */
export interface Link<out Asked extends Questions<Asked> = ViewQuestions>
  extends Omit<ReturnType<typeof connect>, "ask">,
    Asking<Asked> {}

const PATIENCE_MS = 700;
const LONG_MS = 5000;

const NO_ANSWER =
  "No answer from Python: the kernel is busy with something else, or this page has none, as an exported notebook. What is not shown here needs a running one.";

const ENDED = "The kernel seems to have ended. What is shown stays; run the cell again to go on.";

/**
 * Join a view to its model. Gives:
 *   root                  the element to fill
 *   ask(kind, arguments, onError, isQuiet)
 *                      a promise of the answer, with its arrays. It never comes if a
 *                      newer question of the same kind has overtaken it, if its kernel has ended,
 *                      or if Python failed: then `onError` gets the failure ({title, message}) and
 *                      a function that shows it in the error pane, where it goes without `onError`.
 *                      That it takes long is shown, unless it `isQuiet`: nobody waits for it
 *   state              the shared state: numbers as decimal strings, null where nothing is chosen
 *   setState(changes)  changes it, here at once and then in Python
 *   onState(listener)  calls the listener with the state now and after every change; while the view
 *                      is not on the page, or hidden, when it is seen again
 *   open(view, changes) shows another view, and changes the state; canOpen(view): is there one?
 *   offline            why nothing can be asked that is not in the page already; "" with Python
 *   on(kind, listener) calls the listener with what Python tells unasked
 *   busy(text)         shows that something takes long; null ends that
 *   close()            what `render` returns
 */
export function connect<Asked extends Questions<Asked> = ViewQuestions>(model: Model, el: HTMLElement) {
  const asker = Array.from(crypto.getRandomValues(new Uint32Array(2)), (n) => n.toString(36)).join("");
  const questions = new Map<string, Sent>(); // the newest of each kind, and all changes of the state
  const listeners: ((state: State) => void)[] = [];
  const news = new Map<string, (content: never) => void>();
  const errors = errorPane();
  const progress = progressBar();
  const root = node("div", { class: "lx-body" });
  const panes = node("div", { class: "lx-held" });
  render([h(progress.Bar, {}), h(errors.Errors, {})], panes);
  const label = model.get("label");
  const offline = model.get("offline") ?? "";
  const among = label ? { role: "tabpanel", "aria-label": label } : {};
  const frame = node("div", { class: "lx", "data-lm-suppress-shortcuts": "true", ...among }, panes, root);
  // Notebook 7 asks only the focused element whether it wants its keys for itself.
  frame.addEventListener("focusin", ({ target }) =>
    (target as Element).setAttribute("data-lm-suppress-shortcuts", "true"),
  );
  el.append(frame);
  let seq = 0;
  const shared = joinState(model, () => tell());

  /** Null if it cannot be sent, which is shown. */
  function send(kind: string, args: object, onReply: (content: object) => void, onError: (content: Failure) => void) {
    seq += 1;
    const sent: Sent = { seq, onReply, onError, isTaken: false };
    try {
      model.send({ kind, seq, asker, arguments: args as Record<string, unknown> });
    } catch (error) {
      errors.show("send", { title: "Python cannot be asked", message: `${ENDED} (${error})` });
      return null;
    }
    errors.hide("send");
    return sent;
  }

  const ask: Asking<Asked>["ask"] = (kind, args = {}, onError = null, isQuiet = false) =>
    new Promise((resolve) => {
      const put = () => {
        const sent = send(kind, args, resolve, fail);
        if (!sent) return;
        questions.set(kind, sent);
        if (isQuiet) return;
        const wait = (text: string, patience: number) =>
          setTimeout(() => {
            if (questions.get(kind) === sent) progress.wait(kind, sent.isTaken ? "Python is working on it" : text);
          }, patience);
        wait("no answer from Python yet", PATIENCE_MS);
        wait(NO_ANSWER, LONG_MS);
      };
      const show = (content: Failure) => errors.show(kind, content, put);
      const fail = (content: Failure) => (onError ? onError(content, show) : show(content));
      put();
    });

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
    isBehind = wasSeen && !(isSeen && frame.checkVisibility()); // what asks for its size lays out the page
    if (!isBehind) for (const listener of listeners) listener(shared.state);
  }

  function setState(changes: Changes) {
    const settle = shared.change(changes);
    const settled = (content: object) => settle((content as Revision).revision);
    const sent = send("state", { changes }, settled, (content) => {
      settle();
      errors.show("state", content);
    });
    if (sent) questions.set(`state ${sent.seq}`, sent);
    else settle();
    shared.tell();
  }

  function receive(message: ViewMessage, buffers: DataView[]) {
    if (message.what === "news") {
      news.get(message.kind)?.(message.content as never);
      return;
    }
    const kind = message.kind === "state" ? `state ${message.seq}` : message.kind;
    const question = questions.get(kind);
    if (message.asker !== asker || question?.seq !== message.seq || !question) return;
    if (message.what === "taken") {
      question.isTaken = true;
      return;
    }
    if (message.what === "progress") {
      progress.show(kind, message.content as Progress);
      return;
    }
    progress.hide(kind);
    errors.hide(message.kind);
    questions.delete(kind);
    if (message.what === "error") question.onError(message.content as Failure);
    else question.onReply(unpackArrays(message.content as object, message.arrays, buffers));
  }

  function openView(view: string, changes: Changes = {}) {
    progress.show("go", { text: "opening…", fraction: null });
    return ask("go" as keyof Asked & string, { view, changes });
  }

  function canOpen(view: string) {
    return model.get("opens").includes(view);
  }

  model.on("msg:custom", receive);

  return {
    root,
    ask,
    get state() {
      return shared.state;
    },
    setState,
    onState(listener: (state: State) => void) {
      listeners.push(listener);
      listener(shared.state);
    },
    open: openView,
    canOpen,
    offline,
    on: <Kind extends keyof News>(kind: Kind, listener: (content: News[Kind]) => void) => news.set(kind, listener),
    busy: (text: string | null) =>
      text === null ? progress.hide("busy") : progress.show("busy", { text, fraction: null }),
    close() {
      model.off("msg:custom", receive);
      shared.leave();
      sight.disconnect();
      questions.clear();
      frame.remove();
    },
  };
}
