// A box beside the pointer.

import { type ComponentChildren, render } from "preact";
import { node } from "./elements";
import { placeBeside } from "./floats";

export type Tooltip = ReturnType<typeof tooltip>;

/** The box that was shown last: there is one pointer, and what it left may be gone from the page. */
let latest: HTMLElement | null = null;

/** A box beside the pointer: `show(event, ...children)`, `hide()`. */
export function tooltip(root: HTMLElement) {
  const element = node("div", { class: "lx-tooltip", role: "tooltip", hidden: true });
  return {
    element,
    show({ clientX, clientY }: { clientX: number; clientY: number }, ...children: ComponentChildren[]) {
      if (!element.isConnected) root.append(element); // once the view is drawn there
      if (latest && latest !== element) latest.hidden = true;
      latest = element;
      render(children, element);
      element.hidden = false;
      const pointer = { getBoundingClientRect: () => new DOMRect(clientX, clientY) };
      placeBeside(pointer, element, "bottom-start", 14);
    },
    hide() {
      element.hidden = true;
    },
  };
}
