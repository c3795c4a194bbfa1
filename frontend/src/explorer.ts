// The explorer: a bar that tells where one is, what is chosen and what leads elsewhere; and below it
// one of the views, each with a model of its own that speaks over the explorer's (parts.ts).

import "./explorer.css";
import { awaited } from "./awaited";
import { toClipboard } from "./clipboard";
import { codePane } from "./code_pane";
import { fill, node } from "./elements";
import { chips } from "./explorer_chips";
import { tabList } from "./explorer_tabs";
import { explorerTitle } from "./explorer_title";
import { connect } from "./link";
import { following } from "./live";
import type { About, AnswerPlace, Changes, Example, SearchAnswer } from "./messages";
import type { View } from "./model";
import { viewsOf, withoutParts } from "./parts";
import { searchBox } from "./search_box";

/** What a search leads to. */
interface Result {
  view: string;
  changes: Changes;
  branch?: string;
  problem?: string;
  answer?: SearchAnswer;
}

export function render({ model, el }: View) {
  const link = connect(withoutParts(model), el);
  const views = viewsOf(model, el);
  const title = explorerTitle((branch) => link.ask("branch", { branch }));
  const back = stepButton("‹", "Back", -1);
  const forward = stepButton("›", "Forward", 1);
  const search = searchBox({
    onSearch: find,
    onMore: findMore,
    onOpen: openPlace,
    canOpen: ({ view }) => view !== null && link.canOpen(view),
    askExamples: async () =>
      link.offline ? [] : (await link.ask<{ examples: Example[] }>("examples", {}, null, true)).examples,
  });
  const live = following(link, model);
  const tabs = tabList({ onOpen: open });
  const chosen = node("div", { class: "lx-explorer-chosen", role: "group", "aria-label": "What is chosen" });
  const pane = codePane();
  const copy = node(
    "button",
    { class: "lx-button lx-small", title: "Copy the lines of Python for what is shown", onclick: copyCode },
    "Copy as code",
  );
  if (link.offline) search.disable(link.offline);
  live.element.hidden = Boolean(link.offline);
  link.needsPython(copy);
  link.root.classList.add("lx-explorer");
  link.root.append(
    node(
      "div",
      { class: "lx-explorer-top" },
      title.element,
      live.news,
      live.element,
      node("div", { class: "lx-explorer-steps" }, back, forward),
      search.element,
    ),
    live.note,
    search.tried,
    search.answer,
    tabs.element,
    node("div", { class: "lx-explorer-foot" }, chosen, copy),
    pane.element,
  );
  const all = awaited(link.root);

  function stepButton(text: string, name: string, by: number) {
    return node(
      "button",
      { class: "lx-button lx-step", title: name, "aria-label": name, onclick: () => link.ask("step", { by }) },
      text,
    );
  }

  let shownBranch: string | null = null;

  async function start() {
    const about = await link.ask<About>("about");
    all.come();
    showAbout(about);
    tabs.set(about.tabs);
    follow();
  }

  function showAbout(about: About) {
    if (about.branch !== shownBranch) search.forget();
    shownBranch = about.branch;
    title.show(about);
  }

  /** Show another view; Python makes it if it is the first time. */
  function open(view: string, changes: Changes = {}) {
    tabs.select(view);
    link.open(view, changes).then(follow);
  }

  async function find(text: string) {
    search.tell("");
    showResult(await link.ask<Result>("search", { text }));
  }

  async function findMore() {
    showResult(await link.ask<Result>("search_on"));
  }

  function showResult({ view, changes, branch, problem, answer }: Result) {
    if (problem) search.tell(problem);
    else if (answer) search.show(answer);
    else {
      search.hide();
      if (branch === undefined) open(view, changes);
      else goToBranch(branch, view, changes);
    }
  }

  /** Show what an answer tells of; the answer stays. */
  function openPlace({ view, choices, branch, filters }: AnswerPlace) {
    if (view === "log") link.ask("show_log", { filters }).then(follow);
    else if (branch !== null && branch !== shownBranch) goToBranch(branch, view, choices);
    else open(view, choices);
  }

  async function copyCode() {
    const { code } = await link.ask<{ code: string }>("code");
    pane.show(code, await toClipboard(code));
  }

  function follow() {
    pane.close();
    const { view, can_go_back, can_go_forward } = model.get("place");
    views.show(view);
    tabs.select(view);
    back.disabled = !can_go_back;
    forward.disabled = !can_go_forward;
    const { view: before = view } = link.root.dataset; // the first takes the keyboard from nobody
    if (before !== view && hasLostFocus()) tabs.focus(view);
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

  /** Ctrl or Cmd and K: the search box, with what can be asked. */
  function hearKey(event: KeyboardEvent) {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    search.focus();
  }
  // On a page of its own the keys are the explorer's, wherever the focus is.
  const heard: HTMLElement = document.body.classList.contains("lx-page") ? document.body : el;
  heard.addEventListener("keydown", hearKey, true);

  el.addEventListener("lx-branch", hearOfBranch);
  link.on("about", showAbout);
  link.onState((state) => {
    fill(chosen, ...chips(state, link.setState));
    pane.close();
  });
  model.on("change:place", follow);
  model.on("change:parts", follow);
  start();
  return () => {
    el.removeEventListener("lx-branch", hearOfBranch);
    heard.removeEventListener("keydown", hearKey, true);
    model.off("change:place", follow);
    model.off("change:parts", follow);
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
