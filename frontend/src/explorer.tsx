// The explorer: a bar that tells where one is, what is chosen and what leads elsewhere; and below it
// one of the views, each with a model of its own that speaks over the explorer's (parts.ts).

import "./explorer.css";
import { signal } from "@preact/signals";
import { render as draw } from "preact";
import { followAddress } from "./address";
import { toClipboard } from "./clipboard";
import { CodePane } from "./code_pane";
import { chips } from "./explorer_chips";
import { TabList } from "./explorer_tabs";
import { explorerTitle } from "./explorer_title";
import { connect } from "./link";
import { following } from "./live";
import type { About, AnswerPlace, Changes, ExplorerQuestions, SearchResult } from "./messages";
import type { View } from "./model";
import { viewsOf, withoutParts } from "./parts";
import { CopyLink, needing, set } from "./reactive";
import { searchBox } from "./search_box";

export function render({ model, el }: View) {
  const link = connect<ExplorerQuestions>(withoutParts(model), el);
  const views = viewsOf(model, el);
  const about = signal<About | null>(null);
  const state = signal(link.state);
  const place = signal(model.get("place"));
  const opening = signal(""); // a view that was asked for
  const code = signal<{ code: string; isCopied: boolean } | null>(null);
  const live = following(link, model, () => link.ask("newest"));
  const address = followAddress(link, model);
  const search = searchBox(link, find, {
    onAsk: (question) => search.ask(question),
    onMore: async () => showResult(await link.ask("search_on")),
    onOpen: openPlace,
    canOpen: ({ view }) => view !== null && link.canOpen(view),
  });

  function showAbout(newest: About) {
    if (newest.branch !== (about.value?.branch ?? null)) search.forget();
    about.value = newest;
  }

  /** Show another view; Python makes it if it is the first time. */
  function open(view: string, changes: Changes = {}) {
    opening.value = view;
    link.open(view, changes).then(follow);
  }

  async function find(text: string) {
    search.tell("");
    showResult(await link.ask("search", { text }));
  }

  function showResult({ view, changes, branch, problem, answer }: SearchResult) {
    if (problem) search.tell(problem);
    else if (answer) search.show(answer);
    else if (view) {
      search.show(null);
      if (branch) goToBranch(branch, view, changes ?? {});
      else open(view, changes ?? {});
    }
  }

  /** Show what an answer tells of; the answer stays. */
  function openPlace({ view, choices, branch, filters }: AnswerPlace) {
    if (view === "log") link.ask("show_log", { filters }).then(follow);
    else if (branch !== null && branch !== about.value?.branch) goToBranch(branch, view, choices);
    else open(view, choices);
  }

  async function copyCode() {
    const answer = await link.ask("code");
    code.value = { code: answer.code, isCopied: await toClipboard(answer.code) };
  }

  function follow() {
    code.value = null;
    place.value = model.get("place");
    opening.value = "";
    const { view } = place.value;
    views.show(view);
    const { view: before = view } = link.root.dataset; // the first takes the keyboard from nobody
    if (before !== view && hasLostFocus())
      link.root.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus({ preventScroll: true });
    link.root.dataset.view = view;
  }

  async function goToBranch(branch: string | null, view: string, changes: Changes) {
    await link.ask("branch", { branch });
    open(view, changes);
  }

  /** A view asks for another branch, and what to show there. */
  function hearOfBranch(event: Event) {
    const { detail } = event as CustomEvent<{ branch: string | null; view: string; changes: Changes }>;
    goToBranch(detail.branch, detail.view, detail.changes);
  }

  /** A view asks a question. */
  function hearQuestion(event: Event) {
    search.ask((event as CustomEvent<string>).detail);
  }

  /** Ctrl or Cmd and K: the search box, with what can be asked. */
  function hearKey(event: KeyboardEvent) {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    search.focus();
  }

  const step = (text: string, name: string, by: number, isThere: boolean) => (
    <button
      class="lx-button lx-step"
      title={name}
      aria-label={name}
      disabled={!isThere}
      onClick={() => link.ask("step", { by })}
    >
      {text}
    </button>
  );

  function Head() {
    const { view, can_go_back, can_go_forward } = place.value;
    return (
      <>
        <div class="lx-explorer-top">
          {explorerTitle(about.value, (branch) => link.ask("branch", { branch }))}
          <live.News />
          <live.Switch />
          <div class="lx-explorer-steps">
            {step("‹", "Back", -1, can_go_back)}
            {step("›", "Forward", 1, can_go_forward)}
          </div>
          <search.Box />
        </div>
        <live.LiveNote />
        <search.Tried />
        <search.Below />
        <TabList
          tabs={about.value?.tabs ?? []}
          shown={opening.value || view}
          onOpen={(other) => {
            search.show(null); // what was answered is of another view
            open(other);
          }}
        />
        <div class="lx-explorer-foot">
          <div class="lx-explorer-chosen" role="group" aria-label="What is chosen">
            {chips(state.value, link.setState)}
          </div>
          {address.copy && <CopyLink key={model.get("address").text} copy={address.copy} />}
          <button
            class="lx-button lx-small"
            title="Copy the lines of Python for what is shown"
            onClick={copyCode}
            {...needing(link)}
          >
            Copy as code
          </button>
        </div>
        {code.value && <CodePane {...code.value} onClose={() => set(code, null)} />}
      </>
    );
  }

  // On a page of its own the keys are the explorer's, wherever the focus is.
  const heard: HTMLElement = document.body.classList.contains("lx-page") ? document.body : el;
  heard.addEventListener("keydown", hearKey, true);
  el.addEventListener("lx-branch", hearOfBranch);
  el.addEventListener("lx-ask", hearQuestion);
  link.root.classList.add("lx-explorer", "lx-unread");
  draw(<Head />, link.root);
  link.on("about", showAbout);
  link.onState((newest) => {
    state.value = newest;
    code.value = null;
  });
  model.on("change:place", follow);
  model.on("change:parts", follow);
  link.ask("about").then((found) => {
    showAbout(found);
    link.root.classList.remove("lx-unread");
    follow();
  });
  return () => {
    el.removeEventListener("lx-branch", hearOfBranch);
    el.removeEventListener("lx-ask", hearQuestion);
    heard.removeEventListener("keydown", hearKey, true);
    model.off("change:place", follow);
    model.off("change:parts", follow);
    draw(null, link.root);
    views.close();
    live.close();
    link.close();
  };
}

/** Whether the keyboard is nowhere, or in a view that may be hidden now. */
function hasLostFocus() {
  const { activeElement } = document;
  return !activeElement || activeElement === document.body || activeElement.closest(".lx[role=tabpanel]") !== null;
}
