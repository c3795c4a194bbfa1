// What stands between the time line and the rows beside counts: other differences, the question whether all values
// are the same, keys, and what the rows are narrowed to.

import { type Signal, useSignal } from "@preact/signals";
import type { RowChoice } from "./changes_bars";
import type { Link } from "./link";
import type { ChangesQuestions, Comparison } from "./messages";
import { set } from "./reactive";
import { cut, visible } from "./text";
import { sentenceList } from "./version_head";

/** What is said of the question whether all values are the same. */
interface Settled {
  text: string;
  same?: string;
  isAsked?: boolean;
  line?: string;
}

/** What differs beside rows, in words; it leads where no row differs. */
export function besideRows(style: string, sentences: string[], isLead: boolean) {
  return (
    <section class={isLead ? `${style} lx-lead` : style} aria-label="Other differences">
      <h4>{isLead ? "No row differs. What did change:" : "Other differences"}</h4>
      {sentenceList(sentences)}
    </section>
  );
}

/** Whether any value differs: a question, a button that asks it, the answer. */
export function ContentCheck({
  link,
  begin,
  end,
}: { link: Link<ChangesQuestions> } & Pick<Comparison, "begin" | "end">) {
  const settled = useSignal<Settled>({
    text: "The counts here come from metadata; to find out whether every value is the same, the values must be read.",
  });
  const { text, same, isAsked = false, line } = settled.value;
  async function ask() {
    settled.value = { text: "reading the values of both versions…", isAsked: true };
    const found = await link.ask("same_content", { begin, end }, (problem, show) => {
      show(problem);
      settled.value = { text: "That could not be found out." };
    });
    settled.value = { text: visible(found.words), same: found.is_same ? "yes" : "no", line: found.code };
  }
  return (
    <div class="lx-content" data-same={same ?? ""}>
      <strong>Same content?</strong>
      <span role="status">{text}</span>
      {!same && (
        <button
          class="lx-button lx-small"
          title="Reads the values of all fragments that differ, from both versions"
          disabled={isAsked}
          onClick={ask}
        >
          Compare all values
        </button>
      )}
      {line && <code>{line}</code>}
    </div>
  );
}

interface KeyProps {
  names: string[];
  chosen: string[];
  isOpen: Signal<boolean>;
  onKey: (key: string[]) => void;
}

/** The chooser of key columns. */
export function KeyChooser({ names, chosen, isOpen, onKey }: KeyProps) {
  return (
    <details class="lx-key" open={isOpen.value} onToggle={({ currentTarget }) => set(isOpen, currentTarget.open)}>
      <summary>{chosen.length ? `Rows matched by ${cut(chosen.join(", "), 120)}` : "Match rows by a key"}</summary>
      <p class="lx-quiet">
        A deleted row and an inserted row with the same key count as one updated row. The key columns are read for that.
      </p>
      <div class="lx-key-list">
        {names.slice(0, 200).map((name) => (
          <label class="lx-check">
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              onChange={({ currentTarget: { checked } }) =>
                onKey(names.filter((other) => (other === name ? checked : chosen.includes(other))))
              }
            />
            {cut(name, 60)}
          </label>
        ))}
      </div>
    </details>
  );
}

/** What the rows are narrowed to, each a button that shows all again. */
export function choiceChips(
  { change, column }: Pick<Comparison, "change" | "column">,
  onPick: (choice: RowChoice) => void,
) {
  const chip = (name: string, text: string, choice: RowChoice) => (
    <button
      class="lx-chip"
      title="Show all again"
      aria-label={`Show all again, not only ${text}`}
      onClick={() => onPick(choice)}
    >
      {name}: {text} ✕
    </button>
  );
  return [
    change && chip("only", change.replace("_", " "), { change: null }),
    column && chip("only where differs", cut(column, 60), { column: null }),
  ];
}
