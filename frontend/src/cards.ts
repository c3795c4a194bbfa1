import "./cards.css";
import type { Child } from "./elements";
import { node } from "./elements";

/** One number, what it is, and what else there is to say of it. */
export function factCard(label: string, value: string, ...details: (string | null)[]) {
  const lines = details
    .filter((detail) => detail)
    .map((detail) => node("div", { class: "lx-quiet lx-card-detail" }, detail));
  return node(
    "div",
    { class: "lx-card" },
    node("div", { class: "lx-quiet" }, label),
    node("div", { class: "lx-card-value" }, value),
    ...lines,
  );
}

/** A part of a view under a title, with what stands beside that. */
export function panel(title: string, beside: Child, ...content: Child[]) {
  return node(
    "section",
    { class: "lx-part", "aria-label": title },
    node("div", { class: "lx-part-head" }, node("h4", {}, title), beside),
    ...content,
  );
}

/** Buttons of which one is pressed: `element`, `choose(name)`. */
export function choiceBar(label: string, choices: (readonly [string, string])[], onChoose: (name: string) => void) {
  const buttons = new Map(
    choices.map(([name, text]) => [
      name,
      node(
        "button",
        {
          class: "lx-choice",
          "data-choice": name,
          "aria-pressed": "false",
          onclick: () => {
            choose(name);
            onChoose(name);
          },
        },
        text,
      ),
    ]),
  );
  function choose(chosen: string) {
    for (const [name, button] of buttons) button.setAttribute("aria-pressed", String(name === chosen));
  }
  choose(choices[0][0]);
  return {
    element: node("div", { class: "lx-choices", role: "group", "aria-label": label }, ...buttons.values()),
    choose,
  };
}
