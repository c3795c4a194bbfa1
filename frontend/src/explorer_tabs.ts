// The tabs of the explorer.

import { fill, node, setAttributes } from "./elements";
import { isCommand } from "./keys";
import type { About } from "./messages";

/** The tabs of the views: arrow keys go from tab to tab, Enter opens one. Gives `element`, `set(tabs)`, `focus(view)`, `select(view)`. */
export function tabList({ onOpen }: { onOpen: (view: string) => void }) {
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
