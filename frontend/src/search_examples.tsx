// Examples of what can be searched for: below the box as somebody types, and beside it to be tried.

import type { Ref } from "preact";
import type { Example } from "./messages";
import { visible } from "./text";

const MOST_TRIED = 3; // examples beside an empty box, which a click tries

/** The examples that what is typed leaves: all of its words are in them, in any order. */
export function matching(examples: Example[], typed: string) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return examples.filter(({ text, hint }) => words.every((word) => `${text} ${hint}`.toLowerCase().includes(word)));
}

/** Whether an example is to be completed before it can be asked. */
export function isBegun({ text }: Example) {
  return text.endsWith(" ");
}

/** The first examples that can be asked as they are. */
export function triable(examples: Example[]) {
  return examples.filter((example) => !isBegun(example)).slice(0, MOST_TRIED);
}

interface OptionsProps {
  examples: Example[];
  /** Of the list, and the beginning of those of its options. */
  id: string;
  /** Which of them the keys chose. */
  chosen: number;
  onTake: (example: Example) => void;
  list: Ref<HTMLDivElement>;
}

/** The examples below the box. */
export function ExampleList({ examples, id, chosen, onTake, list }: OptionsProps) {
  return (
    <div class="lx-search-list" ref={list} id={id} role="listbox" aria-label="Examples">
      {examples.map((example, at) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the box has the keyboard
        <div
          key={example.text}
          class="lx-search-example"
          role="option"
          id={`${id}-${at}`}
          aria-selected={at === chosen}
          onMouseDown={(event) => event.preventDefault()} // the box keeps the focus
          onClick={() => onTake(example)}
        >
          <code>
            {visible(example.text.trim())}
            {isBegun(example) && " …"}
          </code>
          <span class="lx-quiet">{visible(example.hint)}</span>
        </div>
      ))}
      {!examples.length && (
        <div class="lx-quiet lx-search-none">Enter searches for a version, a tag, a time, a row or a value.</div>
      )}
    </div>
  );
}

/** The first examples, to be tried by a click. */
export function triedExamples(examples: Example[], onTake: (example: Example) => void) {
  return (
    <div class="lx-search-tried lx-quiet">
      {examples.length > 0 && "Try "}
      {triable(examples).map((example) => (
        <button class="lx-search-try" title={visible(example.hint)} onClick={() => onTake(example)}>
          {visible(example.text)}
        </button>
      ))}
    </div>
  );
}
