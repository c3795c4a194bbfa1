// Cards with one number each, parts of a view under a title, and a choice of a few.

/** A number that may not be known, in words. */
function known(value, format) {
  return value === null || value === undefined || Number.isNaN(value) ? "unknown" : format(value);
}

function percent(share) {
  return share > 0 && share < 0.01 ? "less than 1 %" : `${count(Math.round(100 * share))} %`;
}

/** One number, what it is, and what else there is to say of it. */
function factCard(label, value, ...details) {
  const lines = details.filter((detail) => detail).map((detail) => node("div", { class: "lx-quiet lx-card-detail" }, detail));
  return node("div", { class: "lx-card" }, node("div", { class: "lx-quiet" }, label), node("div", { class: "lx-card-value" }, value), ...lines);
}

/** A part of a view under a title, with what stands beside that. */
function panel(title, beside, ...content) {
  return node("section", { class: "lx-part", "aria-label": title }, node("div", { class: "lx-part-head" }, node("h4", {}, title), beside), ...content);
}

/** Buttons of which one is pressed: `element`, `choose(name)`. */
function choiceBar(label, choices, onChoose) {
  const buttons = new Map(choices.map(([name, text]) => [name, node("button", { class: "lx-choice", "data-choice": name, "aria-pressed": "false", onclick: () => { choose(name); onChoose(name); } }, text)]));
  function choose(chosen) {
    for (const [name, button] of buttons) button.setAttribute("aria-pressed", String(name === chosen));
  }
  choose(choices[0][0]);
  return { element: node("div", { class: "lx-choices", role: "group", "aria-label": label }, ...buttons.values()), choose };
}
