// What is wrong or should be done, as a list: the same in every view that has some of it.

const SIGNS = { error: "✕", warning: "!", info: "i" };
const VIEW_NAMES = { files: "Files", indices: "Indices", encodings: "Encodings" };

/**
 * The list: `element`, `show(advice)`, `fail(problem)`. `choose(changes)` and `open(view, changes)`
 * are called when one is clicked; `closer()` gives what stands beside "nothing". A view of one
 * version only has fragments to choose: `isOfVersion`.
 */
function adviceList({ choose = null, open = null, canOpen = () => false, closer = () => [], isOfVersion = false } = {}) {
  const list = node("ul", { class: "lx-findings", "aria-label": "What to do" });

  function entry(found) {
    const changes = { ...(found.version === null ? {} : { version: found.version }), ...(found.fragment_id === null ? {} : { fragment_id: found.fragment_id }) };
    const about = [found.version === null || isOfVersion ? "" : `version ${count(found.version)}`, found.fragment_id === null ? "" : `fragment ${count(found.fragment_id)}`].filter(Boolean).join(", ");
    const select = choose && about ? node("button", { class: "lx-button lx-small", onclick: () => choose(changes) }, `Select ${about}`) : null;
    const more = found.view && canOpen(found.view) ? node("button", { class: "lx-button lx-small", onclick: () => open(found.view, changes) }, `Open ${VIEW_NAMES[found.view]}`) : null;
    return node("li", { class: `lx-found lx-found-${found.severity}`, "data-code": found.code },
      node("span", { class: "lx-sign", title: found.words, "aria-label": found.words }, SIGNS[found.severity]),
      node("div", {}, node("div", { class: "lx-found-message" }, sentence(cut(found.message, 600))), found.advice ? node("div", { class: "lx-found-advice" }, ...adviceText(found.advice)) : null),
      node("div", { class: "lx-found-actions" }, select, more));
  }

  function refusal(problem) {
    return node("li", { class: "lx-refusal" }, cut(problem, 1000));
  }

  return {
    element: node("div", { class: "lx-findings-box" }, list),
    show(advice) {
      const problem = advice.problem ? [refusal(advice.problem)] : [];
      const nothing = () => node("li", { class: "lx-found-nothing" }, ...adviceText(advice.nothing), node("div", { class: "lx-found-actions" }, ...closer()));
      const left = advice.num_found - advice.found.length;
      const more = left ? [node("li", { class: "lx-quiet" }, `and ${count(left)} more`)] : [];
      list.replaceChildren(...problem, ...(advice.found.length || problem.length ? advice.found.map(entry) : [nothing()]), ...more);
    },
    fail(problem) {
      list.replaceChildren(refusal(problem));
    },
  };
}

function sentence(text) {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;
}

/** Advice with its calls set as code. */
function adviceText(text) {
  const parts = cut(text, 1000).split(/((?:dataset|table|lance|lx)\.[\w.]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?)/);
  return parts.map((part, i) => (i % 2 ? node("code", {}, part) : part));
}
