// Which columns a grid shows: a list to search and to tick, below a button.

import "./column_picker.css";
import { computed, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useFloating } from "./floats";
import type { Link } from "./link";
import type { AllColumns, GridViewQuestions, PickedColumn } from "./messages";
import { needing, set, useName } from "./reactive";
import { count, cut, plural } from "./text";

const MOST_LISTED = 500;

const PAUSE = 150; // ms, in which more may be ticked

/** The places of the columns whose names have all words that are typed. */
export function placesWith(columns: PickedColumn[], typed: string) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return columns.flatMap(({ name }, place) =>
    words.every((word) => name.toLowerCase().includes(word)) ? [place] : [],
  );
}

/** `Picker` draws the button and, once it is open, the list; `renew()` when there are other columns. */
export function columnPicker(link: Link<GridViewQuestions>) {
  const isOpen = signal(false);
  const all = signal<AllColumns | null>(null);
  const shown = signal(new Set<number>());
  const typed = signal("");
  const found = computed(() => placesWith(all.value?.columns ?? [], typed.value));
  let waiting = 0;

  async function load() {
    const newest = await link.ask("columns");
    shown.value = new Set(newest.columns.flatMap(({ is_shown }, place) => (is_shown ? [place] : [])));
    all.value = newest;
  }

  /** Tick columns, as many as can be shown at once, or take the ticks away. */
  function tick(places: number[], isShown: boolean) {
    const ticked = new Set(shown.value);
    for (const place of places) {
      if (!isShown) ticked.delete(place);
      else if (ticked.size < (all.value?.most ?? 0)) ticked.add(place);
    }
    shown.value = ticked;
    clearTimeout(waiting);
    const sorted = [...ticked].sort((a, b) => a - b);
    waiting = window.setTimeout(() => link.ask("show_columns", { places: sorted }), PAUSE);
  }

  async function reset() {
    clearTimeout(waiting);
    await link.ask("show_columns", { places: null });
    await load();
  }

  /** How many are shown, and found. */
  function words({ columns, most }: AllColumns) {
    const parts = [`${count(shown.value.size)} of ${plural(columns.length, "column")} shown`];
    if (typed.value.trim()) parts.push(`${count(found.value.length)} with this text`);
    if (found.value.length > MOST_LISTED) parts.push(`the first ${MOST_LISTED} are listed; search for others`);
    if (shown.value.size >= most) parts.push(`${most} at once is the most`);
    return parts.join(" · ");
  }

  function List({ close }: { close: () => void }) {
    const action = (text: string, title: string, act: () => void, isKnown = true) => (
      <button class="lx-button lx-small" title={title} disabled={!isKnown} onClick={act}>
        {text}
      </button>
    );
    const every = all.value;
    const search = useRef<HTMLInputElement>(null);
    useLayoutEffect(() => search.current?.focus(), []); // once: whoever went on to a box stays there
    return (
      <>
        <div class="lx-picker-bar">
          <input
            class="lx-input"
            type="search"
            spellcheck={false}
            placeholder="Search in names"
            aria-label="Search in the names of columns"
            value={typed}
            onInput={({ currentTarget }) => set(typed, currentTarget.value)}
            ref={search}
          />
          {action("All", "Show all columns with this text", () => tick(found.value, true), every !== null)}
          {action("None", "Show no column with this text", () => tick(found.value, false), every !== null)}
          {action("First", "Show those that are shown first", reset, every !== null)}
          {action("Close", "Close the list", close)}
        </div>
        <p class="lx-quiet lx-picker-told" role="status">
          {every && words(every)}
        </p>
        <div class="lx-picker-names" role="group" aria-label="Columns to show">
          {every &&
            found.value.slice(0, MOST_LISTED).map((place) => {
              const { name, dtype } = every.columns[place];
              return (
                <label key={place} title={cut(name, 500)}>
                  <input
                    type="checkbox"
                    data-place={place}
                    checked={shown.value.has(place)}
                    onChange={(event) => {
                      tick([place], event.currentTarget.checked);
                      event.currentTarget.checked = shown.value.has(place); // there may be too many
                    }}
                  />
                  <span class="lx-picker-name">{cut(name, 80)}</span>
                  <span class="lx-quiet">{cut(dtype, 40)}</span>
                </label>
              );
            })}
        </div>
      </>
    );
  }

  function Picker({ numShown, numColumns }: { numShown: number; numColumns: number }) {
    const id = useName();
    const [button, panel] = useFloating<HTMLButtonElement>("bottom-end", isOpen.value);
    function toggle() {
      set(isOpen, !isOpen.value);
      if (isOpen.value) load();
      else button.current?.focus();
    }
    function pressed(event: KeyboardEvent) {
      event.stopPropagation();
      const boxes = [...(event.currentTarget as Element).querySelectorAll("input")]; // that for words is the first
      const at = boxes.indexOf(document.activeElement as HTMLInputElement);
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") toggle();
      else if (step) (boxes[at < 0 && step < 0 ? 0 : at + step] ?? (step < 0 ? boxes[0] : boxes.at(-1)))?.focus();
      else return;
      event.preventDefault();
    }
    return (
      <div class="lx-picker">
        <button
          ref={button}
          class="lx-button"
          aria-expanded={isOpen.value}
          aria-controls={id}
          title="Choose the columns that are shown; only these are read"
          onClick={toggle}
          {...needing(link)}
        >
          Columns
          <span class="lx-quiet">
            {" "}
            {numShown < numColumns && `${count(numShown)} of `}
            {count(numColumns)}
          </span>
        </button>
        {isOpen.value && (
          <div class="lx-picker-panel" id={id} ref={panel} role="dialog" aria-label="Columns" onKeyDown={pressed}>
            <List close={toggle} />
          </div>
        )}
      </div>
    );
  }

  return {
    Picker,
    /** The list, if it is open, is that of other rows now. */
    renew: (numColumns: number) => isOpen.value && numColumns !== all.value?.columns.length && load(),
  };
}
