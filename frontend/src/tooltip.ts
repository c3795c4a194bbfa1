// A box beside the pointer.

import { type Child, fill, node, setStyle } from "./elements";

export type Tooltip = ReturnType<typeof tooltip>;

/** The box that was shown last: there is one pointer, and what it left may be gone from the page. */
let latest: HTMLElement | null = null;

/** A box beside the pointer: `show(event, ...children)`, `hide()`. */
export function tooltip(root: HTMLElement) {
  const element = node("div", { class: "lx-tooltip", role: "tooltip", hidden: true });
  root.append(element);
  return {
    element,
    show({ clientX, clientY }: { clientX: number; clientY: number }, ...children: Child[]) {
      if (latest && latest !== element) latest.hidden = true;
      latest = element;
      fill(element, ...children);
      element.hidden = false;
      const { width, height } = element.getBoundingClientRect();
      const left = Math.min(clientX + 12, document.documentElement.clientWidth - width - 8);
      const below = clientY + 16;
      const top = below + height < document.documentElement.clientHeight ? below : clientY - height - 8;
      setStyle(element, { left: `${Math.max(4, left)}px`, top: `${Math.max(4, top)}px` });
    },
    hide() {
      element.hidden = true;
    },
  };
}
