// The explorer: a bar that tells where one is, what is chosen and what leads elsewhere; and below it
// one of the views, each with a model of its own that speaks over the explorer's (parts.ts).

import "./explorer.css";
import { awaited } from "./awaited";
import { toClipboard } from "./clipboard";
import { fill, node, setAttributes } from "./elements";
import { isCommand } from "./keys";
import { connect } from "./link";
import { following } from "./live";
import type { About, Answer, AnswerLine, Changes, Example, State } from "./messages";
import type { View } from "./model";
import { viewsOf, withoutParts } from "./parts";
import { searchBox } from "./search_box";
import { count, cut, visible } from "./text";

export function render({ model, el }: View) {
  const link = connect(withoutParts(model), el);
  const views = viewsOf(model, el);
  const title = node("div", { class: "lx-explorer-title" });
  const back = stepButton("‹", "Back", -1);
  const forward = stepButton("›", "Forward", 1);
  const search = searchBox({
    onSearch: find,
    onMore: findMore,
    onOpen: openLine,
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
      title,
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
      { class: "lx-button lx-explorer-step", title: name, "aria-label": name, onclick: () => link.ask("step", { by }) },
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
    const { branch, branches } = about;
    if (branch !== shownBranch) search.forget();
    shownBranch = branch;
    const named = branch === null ? null : node("span", { class: "lx-quiet" }, `branch ${cut(branch, 40)}`);
    fill(title, node("strong", {}, cut(about.name, 60)), branches.length ? branchBox(about) : named);
    title.title = visible(about.uri);
  }

  function branchBox({ branch, branches }: About) {
    const box: HTMLSelectElement = node(
      "select",
      { class: "lx-input", onchange: () => link.ask("branch", { branch: box.value || null }) },
      node("option", { value: "" }, "main"),
      ...branches.map((name) => node("option", { value: name }, cut(name, 60))),
    );
    box.value = branch ?? "";
    return node("label", { class: "lx-quiet lx-explorer-branch" }, "branch ", box);
  }

  /** Show another view; Python makes it if it is the first time. */
  function open(view: string, changes: Changes = {}) {
    tabs.select(view);
    link.open(view, changes).then(follow);
  }

  interface Result {
    view: string;
    changes: Changes;
    branch?: string;
    problem?: string;
    answer?: Answer;
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

  /** Show what a line of an answer tells of; the answer stays. */
  function openLine({ view, changes, branch }: AnswerLine, { place, filters }: Answer) {
    if (view === null) return;
    if (view === "log" && place?.view === "log") link.ask("show_log", { filters }).then(follow);
    else if (branch !== null && branch !== shownBranch) goToBranch(branch, view, changes);
    else open(view, changes);
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

  /** Whether the keyboard is nowhere, or in a view that may be hidden now. */
  function hasLostFocus() {
    const { activeElement } = document;
    return !activeElement || activeElement === document.body || activeElement.closest(".lx[role=tabpanel]") !== null;
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

/** What is chosen, each as a chip, and a button on those that may be cleared. */
export function chips(state: State, setState: (changes: Changes) => void) {
  const { version, compared_version, fragment_id, row_id, filter } = state;
  const chip = (words: string, name: string, cleared: Changes | null = null) =>
    node(
      "span",
      { class: "lx-chip lx-explorer-chip", "data-choice": name },
      words,
      cleared &&
        node(
          "button",
          {
            class: "lx-explorer-clear",
            title: `Clear: ${words}`,
            "aria-label": `Clear: ${words}`,
            onclick: () => setState(cleared),
          },
          "✕",
        ),
    );
  return [
    version !== null && chip(`version ${count(version)}`, "version"),
    compared_version !== null &&
      chip(
        `compared with ${compared_version === "0" ? "the empty table" : `version ${count(compared_version)}`}`,
        "compared_version",
        { compared_version: null },
      ),
    fragment_id !== null && chip(`fragment ${count(fragment_id)}`, "fragment_id", { fragment_id: null }),
    row_id !== null && chip(`row ${count(row_id)}`, "row_id", { row_id: null }),
    filter && chip(`filter: ${cut(filter, 60)}`, "filter", { filter: "" }),
  ].filter((made) => made instanceof Node);
}

/** The tabs of the views: arrow keys go from tab to tab, Enter opens one. */
function tabList({ onOpen }: { onOpen: (view: string) => void }) {
  const element = node("div", {
    class: "lx-explorer-tabs",
    role: "tablist",
    "aria-label": "Views",
    onkeydown: pressed,
  });
  let tabs: { name: string; label: string; button: HTMLButtonElement }[] = [];
  function pressed(event: KeyboardEvent) {
    const at = tabs.findIndex(({ button }) => button === event.target);
    const target = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (target === undefined || isCommand(event)) return;
    event.preventDefault();
    event.stopPropagation();
    tabs[(target + tabs.length) % tabs.length].button.focus();
  }
  return {
    element,
    set(named: About["tabs"]) {
      tabs = named.map(({ name, label }) => ({
        name,
        label,
        button: node(
          "button",
          {
            class: "lx-explorer-tab lx-steady",
            role: "tab",
            "data-view": name,
            "data-label": label,
            onclick: () => onOpen(name),
          },
          label,
        ),
      }));
      fill(element, ...tabs.map(({ button }) => button));
    },
    focus: (view: string) => tabs.find(({ name }) => name === view)?.button.focus({ preventScroll: true }),
    /** Mark a view as the one that is shown. */
    select(view: string) {
      for (const { name, button } of tabs)
        setAttributes(button, { "aria-selected": name === view, tabindex: name === view ? 0 : -1 });
    },
  };
}

/** The code that was asked for, and whether it is on the clipboard. */
function codePane() {
  const words = node("span", { class: "lx-quiet" });
  const text = node("pre", { tabindex: 0, "aria-label": "Code" });
  const close = () => {
    element.hidden = true;
  };
  const element = node(
    "div",
    { class: "lx-explorer-code", role: "status", hidden: true },
    node(
      "div",
      { class: "lx-explorer-foot" },
      words,
      node("button", { class: "lx-button lx-small", onclick: close }, "Close"),
    ),
    text,
  );
  return {
    element,
    close,
    show(code: string, isCopied: boolean) {
      words.textContent = isCopied
        ? "Copied. Paste it into a cell:"
        : "The browser did not allow copying: select the code here.";
      text.textContent = code.split("\n").map(visible).join("\n");
      element.hidden = false;
      if (isCopied) return;
      getSelection()?.selectAllChildren(text);
    },
  };
}
