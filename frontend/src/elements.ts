// Elements of the page, and what fills them.

import { h } from "preact";
import { visible } from "./text";

/** What an element may contain; null and undefined are left out. */
export type Child = Node | string | number | bigint | null | undefined;

type Listeners = {
  [Name in keyof HTMLElementEventMap as `on${Name}`]?: ((event: HTMLElementEventMap[Name]) => unknown) | null;
};

/** What an element has besides its children. */
export type Properties = Listeners & {
  class?: string | null | false;
  style?: Record<string, string | number>;
  dataset?: Record<string, string>;
  [attribute: string]: unknown;
};

/**
 * Make an element. Properties: `class`, `style` (an object), `dataset`, `on...` (listeners), other
 * names are attributes (null and false leave them out). Children: nodes, or anything else as text.
 */
export function node<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value as EventListener);
    else if (name === "style") setStyle(made, value as Record<string, string | number>);
    else if (name === "dataset") Object.assign(made.dataset, value as Record<string, string>);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  fill(made, ...children);
  return made;
}

/** Put these children, and no others, into an element. */
export function fill(element: Element, ...children: Child[]) {
  element.replaceChildren(
    ...children
      .filter((child) => child !== null && child !== undefined)
      .map((child) => (child instanceof Node ? child : String(child))),
  );
}

export function setStyle(element: HTMLElement, style: Record<string, string | number>) {
  for (const [name, value] of Object.entries(style)) element.style.setProperty(name, String(value));
}

export function setAttributes(element: Element, attributes: Record<string, string | number | boolean>) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

/** Text in which backticks enclose names and values. */
export function rich(text: string) {
  return text.split("`").map((part, i) => (i % 2 ? h("code", null, visible(part)) : part));
}
