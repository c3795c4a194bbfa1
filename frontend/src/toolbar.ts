// The bar on top of a view, what is said below it of what was asked there, and the button that looks for versions.

import type { Child } from "./elements";
import { node } from "./elements";
import type { Link } from "./link";
import { visible } from "./text";

/** The bar: `element`, and `tell(text)`, which says something below it, "" for nothing. */
export function toolbar(...content: Child[]) {
  const message = node("div", { class: "lx-note", role: "alert", hidden: true });
  return {
    element: node("div", {}, node("div", { class: "lx-toolbar" }, ...content), message),
    tell(text: string) {
      message.hidden = !text;
      message.textContent = visible(text);
    },
  };
}

export function refreshButton(link: Link, onRefresh: () => void) {
  return link.needsPython(
    node("button", { class: "lx-button", title: "Look for new versions", onclick: onRefresh }, "Refresh"),
  );
}
