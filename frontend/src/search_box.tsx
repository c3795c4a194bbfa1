// The search box of the explorer: what can be asked is shown below it, and so is the answer.

import "./search_box.css";
import { computed, signal } from "@preact/signals";
import { createRef } from "preact";
import { rich } from "./elements";
import { useFloating } from "./floats";
import { stepOf } from "./keys";
import type { Link } from "./link";
import type { Example, ExplorerQuestions, SearchAnswer } from "./messages";
import { Note, needing, set, useName } from "./reactive";
import { Answer, type AnswerActions } from "./search_answer";
import { ExampleList, isBegun, matching, triedExamples } from "./search_examples";
import { cut } from "./text";

/** `Box`, `Tried` and `Below` draw it; `tell(problem)`, `show(answer)`, `ask(question)`, `focus()`. */
export function searchBox(link: Link<ExplorerQuestions>, onSearch: (text: string) => void, actions: AnswerActions) {
  const box = createRef<HTMLInputElement>();
  const text = signal("");
  const examples = signal<Example[] | null>(null);
  const isOpen = signal(false);
  const chosen = signal(-1);
  const problem = signal("");
  const answer = signal<SearchAnswer | null>(null);
  const fitting = computed(() => matching(examples.value ?? [], text.value));

  async function askExamples() {
    examples.value = (await link.ask("examples", {}, null, true)).examples;
  }
  if (!link.offline) askExamples();

  function open() {
    chosen.value = -1;
    isOpen.value = true;
    if (!examples.value) askExamples();
  }

  function close() {
    isOpen.value = false;
  }

  function submit() {
    if (!text.value.trim()) return;
    close();
    onSearch(text.value);
  }

  /** Ask an example, or let it be completed. */
  function take(example: Example) {
    text.value = example.text;
    if (isBegun(example)) {
      box.current?.focus();
      close();
    } else submit();
  }

  function tell(words: string) {
    problem.value = cut(words, 1000);
    if (words) answer.value = null;
  }

  function pressed(event: KeyboardEvent) {
    event.stopPropagation();
    const step = stepOf(event.key, { ArrowDown: 1, ArrowUp: -1 });
    const number = isOpen.value && examples.value ? fitting.value.length : 0;
    if (step && number) {
      event.preventDefault();
      chosen.value = (chosen.value + (chosen.value < 0 && step < 0 ? 0 : step) + number) % number;
    } else if (event.key === "Enter") {
      if (number && chosen.value >= 0) take(fitting.value[chosen.value]);
      else submit();
    } else if (event.key === "Escape") {
      if (isOpen.value)
        event.preventDefault(); // what is typed stays
      else tell("");
      close();
    }
  }

  function Box() {
    const id = useName();
    const isShown = isOpen.value && examples.value !== null;
    const [anchor, list] = useFloating<HTMLDivElement>("bottom-end", isShown);
    return (
      <div class="lx-explorer-find">
        <div class="lx-search-box" ref={anchor}>
          <input
            ref={box}
            class="lx-input lx-explorer-search"
            type="search"
            // biome-ignore lint/a11y/noRedundantRoles: without a list of the browser's own it has another role
            role="combobox"
            list={undefined}
            aria-autocomplete="list"
            spellcheck={false}
            autocomplete="off"
            maxLength={200}
            placeholder={link.offline ? "The search needs Python" : "id = 42, v12, yesterday, a question (Ctrl+K)"}
            aria-label="Search for a version, a tag, a time, a row, a fragment, an address, a value, or ask a question"
            aria-controls={id}
            aria-expanded={isShown}
            aria-activedescendant={isShown && chosen.value >= 0 ? `${id}-${chosen.value}` : undefined}
            aria-invalid={problem.value !== ""}
            value={text}
            onKeyDown={pressed}
            onInput={({ currentTarget }) => {
              text.value = currentTarget.value;
              tell("");
              open();
            }}
            onFocus={open}
            onBlur={close}
            {...needing(link)}
          />
          {isShown && <ExampleList examples={fitting.value} id={id} chosen={chosen.value} onTake={take} list={list} />}
        </div>
        <button class="lx-button" onClick={submit} {...needing(link)}>
          Go
        </button>
      </div>
    );
  }

  return {
    Box,
    Tried: () => (link.offline ? null : triedExamples(examples.value ?? [], take)),
    Below: () => (
      <div>
        <Note>{problem.value && rich(problem.value)}</Note>
        <div role="status">
          {answer.value && <Answer answer={answer.value} onClose={() => set(answer, null)} {...actions} />}
        </div>
      </div>
    ),
    tell,
    show: (newest: SearchAnswer | null) => set(answer, newest),
    /** Ask a question for somebody who did not type it, and show where the answer comes. */
    ask(question: string) {
      text.value = question;
      submit();
      box.current?.scrollIntoView({ block: "nearest" });
    },
    /** Another table has other examples. */
    forget() {
      if (!link.offline) askExamples();
      answer.value = null;
    },
    focus() {
      box.current?.focus();
      box.current?.select();
      open();
    },
  };
}
