// Which columns a grid shows: a list to search and to tick, below a button.

import "./column_picker.css";
import { fill, node } from "./elements";
import type { AllColumns, PickedColumn } from "./messages";
import { count, cut, plural } from "./text";

interface PickerActions {
  ask: () => Promise<AllColumns>;
  /** Show the columns at these places; null for those that are shown first. */
  onShow: (places: number[] | null) => Promise<unknown>;
}

const MOST_LISTED = 500;

const PAUSE = 150; // ms, in which more may be ticked

/** The places of the columns whose names have all words that are typed. */
export function placesWith(columns: PickedColumn[], typed: string) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return columns.flatMap(({ name }, place) =>
    words.every((word) => name.toLowerCase().includes(word)) ? [place] : [],
  );
}

/** `element` with the button and, once it is open, the list; `label(shown, all)`. */
export function columnPicker({ ask, onShow }: PickerActions) {
  let all: AllColumns = { columns: [], most: 0 };
  let shown = new Set<number>();
  let waiting = 0;
  const listId = `lx-picker-${Math.random().toString(36).slice(2)}`;
  const number = node("span", { class: "lx-quiet" }); // stays, so that no click is lost on it
  const attributes = {
    class: "lx-button",
    "aria-expanded": "false",
    "aria-controls": listId,
    title: "Choose the columns that are shown; only these are read",
    onclick: () => (panel.hidden ? open() : close()),
  };
  const button = node("button", attributes, "Columns", number);
  const search = node("input", {
    class: "lx-input",
    type: "search",
    spellcheck: "false",
    placeholder: "Search in names",
    "aria-label": "Search in the names of columns",
    oninput: list,
  });
  const told = node("p", { class: "lx-quiet lx-picker-told", role: "status" });
  const names = node("div", { class: "lx-picker-names", role: "group", "aria-label": "Columns to show" });
  const actions = [
    action("All", "Show all columns with this text", () => tick(found(), true)),
    action("None", "Show no column with this text", () => tick(found(), false)),
    action("First", "Show those that are shown first", reset),
  ];
  const panel = node(
    "div",
    { class: "lx-picker-panel", id: listId, role: "dialog", "aria-label": "Columns", hidden: true },
    node("div", { class: "lx-picker-bar" }, search, ...actions, action("Close", "Close the list", close)),
    told,
    names,
  );
  const element = node("div", { class: "lx-picker" }, button, panel);

  function action(text: string, title: string, does: () => void) {
    return node("button", { class: "lx-button lx-small", title, onclick: does }, text);
  }

  function found() {
    return placesWith(all.columns, search.value);
  }

  async function open() {
    panel.hidden = false;
    button.setAttribute("aria-expanded", "true");
    search.focus();
    await load();
  }

  function close() {
    panel.hidden = true;
    button.setAttribute("aria-expanded", "false");
    button.focus();
  }

  async function load() {
    const isKnown = all.columns.length > 0;
    for (const button of actions) button.disabled = !isKnown;
    all = await ask();
    for (const button of actions) button.disabled = false;
    shown = new Set(all.columns.flatMap(({ is_shown }, place) => (is_shown ? [place] : [])));
    list();
  }

  function list() {
    const places = found();
    fill(
      names,
      ...places.slice(0, MOST_LISTED).map((place) => {
        const { name, dtype } = all.columns[place];
        const box = node("input", { type: "checkbox", "data-place": place });
        box.checked = shown.has(place);
        box.addEventListener("change", () => tick([place], box.checked));
        return node(
          "label",
          { title: cut(name, 500) },
          box,
          node("span", { class: "lx-picker-name" }, cut(name, 80)),
          node("span", { class: "lx-quiet" }, cut(dtype, 40)),
        );
      }),
    );
    tell(places.length);
  }

  function tell(numFound: number) {
    const parts = [`${count(shown.size)} of ${plural(all.columns.length, "column")} shown`];
    if (search.value.trim()) parts.push(`${count(numFound)} with this text`);
    if (numFound > MOST_LISTED) parts.push(`the first ${MOST_LISTED} are listed; search for others`);
    if (shown.size >= all.most) parts.push(`${all.most} at once is the most`);
    told.textContent = parts.join(" · ");
  }

  /** Tick columns, as many as can be shown at once, or take the ticks away. */
  function tick(places: number[], isShown: boolean) {
    for (const place of places) {
      if (!isShown) shown.delete(place);
      else if (shown.size < all.most) shown.add(place);
    }
    for (const box of names.querySelectorAll<HTMLInputElement>("input")) {
      box.checked = shown.has(Number(box.dataset.place));
    }
    tell(found().length);
    clearTimeout(waiting);
    waiting = window.setTimeout(() => onShow([...shown].sort((a, b) => a - b)), PAUSE);
  }

  async function reset() {
    clearTimeout(waiting);
    await onShow(null);
    await load();
  }

  panel.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const boxes = [...names.querySelectorAll("input")];
    const at = boxes.indexOf(document.activeElement as HTMLInputElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") close();
    else if (step) (boxes[at + step] ?? (step < 0 ? search : boxes.at(-1)))?.focus();
    else return;
    event.preventDefault();
  });

  return {
    element,
    button,
    /** Say how many columns there are; the list, if it is open, is that of other rows now. */
    label(numShown: number, numColumns: number) {
      number.textContent = ` ${numShown < numColumns ? `${count(numShown)} of ` : ""}${count(numColumns)}`;
      if (!panel.hidden && numColumns !== all.columns.length) load();
    },
  };
}
