// What is wrong or should be done, as a list: the same in every view that has some of it.

import "./advice.css";
import type { Child } from "./elements";
import { fill, node } from "./elements";
import type { Advice, Changes, Finding } from "./messages";
import { count, cut } from "./text";

export interface AdviceActions {
  choose?: ((changes: Changes) => void) | null;
  open?: ((view: string, changes: Changes) => void) | null;
  canOpen?: (view: string) => boolean;
  closer?: () => Child[];
  isOfVersion?: boolean;
}

const SIGNS = { error: "✕", warning: "!", info: "i" };

export const VIEW_NAMES: Record<string, string> = { disk: "Disk", indices: "Indices", encodings: "Encodings" };

/**
 * The list: `element`, `show(advice)`, `fail(problem)`. `choose(changes)` and `open(view, changes)`
 * are called when one is clicked; `closer()` gives what stands beside "nothing". A view of one
 * version only has fragments to choose: `isOfVersion`.
 */
export function adviceList({
  choose = null,
  open = null,
  canOpen = () => false,
  closer = () => [],
  isOfVersion = false,
}: AdviceActions = {}) {
  const list = node("ul", { class: "lx-findings", "aria-label": "What to do" });

  function entry(found: Finding) {
    const changes = {
      ...(found.version === null ? {} : { version: found.version }),
      ...(found.fragment_id === null ? {} : { fragment_id: found.fragment_id }),
    };
    const about = [
      found.version === null || isOfVersion ? "" : `version ${count(found.version)}`,
      found.fragment_id === null ? "" : `fragment ${count(found.fragment_id)}`,
    ]
      .filter(Boolean)
      .join(", ");
    const select =
      choose && about
        ? node("button", { class: "lx-button lx-small", onclick: () => choose(changes) }, `Select ${about}`)
        : null;
    const { view } = found;
    const more =
      open && view && canOpen(view)
        ? node(
            "button",
            { class: "lx-button lx-small", onclick: () => open(view, changes) },
            `Open ${VIEW_NAMES[view]}`,
          )
        : null;
    return node(
      "li",
      { class: `lx-found lx-found-${found.severity}`, "data-code": found.code },
      node("span", { class: "lx-sign", title: found.words, "aria-label": found.words }, SIGNS[found.severity]),
      node(
        "div",
        {},
        node("div", { class: "lx-found-message" }, sentence(cut(found.statement, 600))),
        found.why ? node("div", { class: "lx-found-advice" }, cut(found.why, 1000)) : null,
        found.remedy ? node("div", { class: "lx-found-advice" }, ...remedy(found)) : null,
      ),
      node("div", { class: "lx-found-actions" }, select, more),
    );
  }

  function refusal(problem: string) {
    return node("li", { class: "lx-refusal" }, cut(problem, 1000));
  }

  return {
    element: node("div", { class: "lx-findings-box" }, list),
    show(advice: Advice) {
      const problem = advice.problem ? [refusal(advice.problem)] : [];
      const nothing = () =>
        node(
          "li",
          { class: "lx-found-nothing" },
          ...adviceText(advice.nothing),
          node("div", { class: "lx-found-actions" }, ...closer()),
        );
      const left = advice.num_found - advice.found.length;
      const more = left ? [node("li", { class: "lx-quiet" }, `and ${count(left)} more`)] : [];
      fill(
        list,
        ...problem,
        ...(advice.found.length || problem.length ? advice.found.map(entry) : [nothing()]),
        ...more,
      );
    },
    fail(problem: string) {
      fill(list, refusal(problem));
    },
  };
}

function sentence(text: string) {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;
}

function remedy({ remedy, remedy_code }: Finding) {
  if (!remedy_code) return adviceText(remedy);
  return [`${remedy.replace(/\.$/, "")}: `, node("code", {}, cut(remedy_code, 1000))];
}

/** Advice with its calls set as code. */
function adviceText(text: string) {
  const parts = cut(text, 1000).split(/((?:dataset|table|lance|lx)\.[\w.]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?)/);
  return parts.map((part, i) => (i % 2 ? node("code", {}, part) : part));
}
