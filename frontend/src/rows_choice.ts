// The active cell of a grid and the rows that are selected: what keys and clicks make of them.

import type { Link } from "./link";
import type { GridViewQuestions } from "./messages";
import { type Extent, keyTarget, nearestCell, type Place } from "./rows_place";

type Pressed = Partial<Pick<MouseEvent, "shiftKey" | "ctrlKey" | "metaKey">>;

interface ChoiceActions {
  /** How many rows and columns there are, null as long as nobody knows. */
  extent: () => Extent | null;
  isSelected: (row: number) => boolean;
  /** Another cell is active. */
  onActive: (active: Place) => void;
  /** A row alone is selected. */
  onRow?: (row: number) => void;
  onSort: (column: number, isAlso: boolean) => void;
  /** Show the whole value of the active cell. */
  onOpen: () => void;
  /** Show it no more; whether it was shown. */
  onClose: () => boolean;
  onFilter: () => void;
  onCopy: () => void;
}

/**
 * Gives `active()`, the cell; `reset(column)`, for other rows; `activate(place)`;
 * `select(row, event)`, as a click with keys that are held does; `pressed(event)` for keys.
 */
export function rowChoice(link: Link<GridViewQuestions>, actions: ChoiceActions) {
  let active: Place = { row: 0, column: 0 };
  let anchor = 0; // where a range that is selected begins

  function select(row: number, event: Pressed) {
    const isRange = event.shiftKey;
    if (!isRange) anchor = row;
    const how = event.ctrlKey || event.metaKey ? "toggle" : "only";
    link.ask("select", { row, anchor, how });
    if (!isRange && how === "only") actions.onRow?.(row);
  }

  function selectAllOrNone(how: "all" | "none") {
    link.ask("select", { row: 0, anchor: 0, how });
  }

  function activate(place: Place) {
    const extent = actions.extent();
    if (!extent) return;
    active = nearestCell(place, extent);
    actions.onActive(active);
  }

  const keys: Record<string, (event: KeyboardEvent) => unknown> = {
    Enter: ({ shiftKey }) => (active.row < 0 ? actions.onSort(active.column, shiftKey) : actions.onOpen()),
    " ": ({ shiftKey }) =>
      active.row < 0 ? actions.onSort(active.column, shiftKey) : select(active.row, { shiftKey, ctrlKey: !shiftKey }),
    Escape: () => actions.onClose() || selectAllOrNone("none"),
    "/": actions.onFilter,
  };
  const commands: Record<string, () => unknown> = { a: () => selectAllOrNone("all"), c: actions.onCopy };

  function pressed(event: KeyboardEvent) {
    const extent = actions.extent();
    if (!extent || event.altKey) return;
    const isCommand = event.ctrlKey || event.metaKey;
    const target = keyTarget(event.key, isCommand, active, extent);
    const action = isCommand ? commands[event.key] : keys[event.key];
    if (target) moveTo(target, event);
    else if (action) action(event);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function moveTo(target: Place, { key, shiftKey }: KeyboardEvent) {
    const isStep = ["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(key);
    const isRange = shiftKey && isStep && target.row >= 0;
    if (isRange && !actions.isSelected(active.row)) anchor = active.row;
    activate(target);
    if (isRange) select(active.row, { shiftKey: true });
  }

  return {
    active: () => active,
    activate,
    select,
    pressed,
    reset(column: number) {
      active = { row: 0, column };
      anchor = 0;
    },
  };
}
