// The tabs of the explorer.

import { useSignal } from "@preact/signals";
import { isCommand } from "./keys";
import type { About } from "./messages";

interface TabsProps {
  tabs: About["tabs"];
  /** The view that is shown. */
  shown: string;
  onOpen: (view: string) => void;
}

/**
 * The tabs of the views: arrow keys go from tab to tab, Enter opens one.
 *
 * What only experts need comes with the button "Advanced".
 */
export function TabList({ tabs: all, shown, onOpen }: TabsProps) {
  const isOpen = useSignal(false);
  const tabs = all.filter(({ name, is_advanced }) => !is_advanced || isOpen.value || name === shown);
  function pressed(event: KeyboardEvent) {
    const buttons = [...(event.currentTarget as Element).querySelectorAll("button")];
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    const target = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (target === undefined || isCommand(event)) return;
    event.preventDefault();
    event.stopPropagation();
    buttons[(target + tabs.length) % tabs.length].focus();
  }
  return (
    <div class="lx-explorer-tabs">
      <div role="tablist" aria-label="Views" onKeyDown={pressed}>
        {tabs.map(({ name, label }) => (
          <button
            key={name}
            class="lx-explorer-tab lx-steady"
            role="tab"
            data-view={name}
            data-label={label}
            aria-selected={name === shown}
            tabIndex={name === shown ? 0 : -1}
            onClick={() => onOpen(name)}
          >
            {label}
          </button>
        ))}
      </div>
      {all.some(({ name, is_advanced }) => is_advanced && name !== shown) && (
        <button
          class="lx-explorer-tab lx-advanced"
          aria-expanded={isOpen.value}
          onClick={() => {
            isOpen.value = !isOpen.value;
          }}
        >
          Advanced {isOpen.value ? "‹" : "›"}
        </button>
      )}
    </div>
  );
}
