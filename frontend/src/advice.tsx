// What is wrong or should be done, as a list: the same in every view that has some of it.

import "./advice.css";
import type { ComponentChildren } from "preact";
import type { Link } from "./link";
import type { Advice, Changes, Finding } from "./messages";
import { AskExplorer } from "./reactive";
import { count, cut } from "./text";

interface AdviceProps {
  advice: Advice | null;
  choose?: (changes: Changes) => void;
  open?: (view: string, changes: Changes) => void;
  canOpen?: (view: string) => boolean;
  /** Through which the explorer is asked for a plan. */
  link?: Link;
  /** What stands beside "nothing". */
  closer?: ComponentChildren;
  /** A view of one version only has fragments to choose. */
  isOfVersion?: boolean;
}

const SIGNS = { error: "✕", warning: "!", info: "i" };

export const VIEW_NAMES: Record<string, string> = { disk: "Disk", indices: "Indices", encodings: "Encodings" };

/** Where nothing can be said, and why. */
export function noAdvice(problem: string): Advice {
  return { problem, found: [], num_found: 0, nothing: "", counts: "" };
}

/** What is wrong or should be done; `choose(changes)` and `open(view, changes)` when one is clicked. */
export function AdviceList({ advice, closer, ...actions }: AdviceProps) {
  const left = advice ? advice.num_found - advice.found.length : 0;
  return (
    <div class="lx-findings-box">
      <ul class="lx-findings" aria-label="What to do">
        {advice?.problem && <li class="lx-refusal">{cut(advice.problem, 1000)}</li>}
        {advice?.found.map((found) => (
          <Entry found={found} {...actions} />
        ))}
        {advice && !advice.problem && !advice.found.length && (
          <li class="lx-found-nothing">
            {adviceText(advice.nothing)}
            <div class="lx-found-actions">{closer}</div>
          </li>
        )}
        {left > 0 && <li class="lx-quiet">and {count(left)} more</li>}
      </ul>
    </div>
  );
}

function Entry({
  found,
  link,
  choose,
  open,
  canOpen,
  isOfVersion,
}: { found: Finding } & Omit<AdviceProps, "advice" | "closer">) {
  const { version, fragment_id, view } = found;
  const changes = { ...(version === null ? {} : { version }), ...(fragment_id === null ? {} : { fragment_id }) };
  const about = [
    version === null || isOfVersion ? "" : `version ${count(version)}`,
    fragment_id === null ? "" : `fragment ${count(fragment_id)}`,
  ]
    .filter(Boolean)
    .join(", ");
  return (
    <li class={`lx-found lx-found-${found.severity}`} data-code={found.code}>
      <span class="lx-sign" role="img" title={found.words} aria-label={found.words}>
        {SIGNS[found.severity]}
      </span>
      <div>
        <div class="lx-found-message">{sentence(cut(found.statement, 600))}</div>
        {found.why && <div class="lx-found-advice">{cut(found.why, 1000)}</div>}
        {found.remedy && <div class="lx-found-advice">{remedyText(found)}</div>}
      </div>
      <div class="lx-found-actions">
        {choose && about && (
          <button class="lx-button lx-small" onClick={() => choose(changes)}>
            Select {about}
          </button>
        )}
        {open && view && canOpen?.(view) && (
          <button class="lx-button lx-small" onClick={() => open(view, changes)}>
            Open {VIEW_NAMES[view]}
          </button>
        )}
        {link && found.question && (
          <AskExplorer link={link} question={found.question}>
            Recover
          </AskExplorer>
        )}
      </div>
    </li>
  );
}

function sentence(text: string) {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;
}

function remedyText({ remedy, remedy_code }: Finding) {
  if (!remedy_code) return adviceText(remedy);
  return [`${remedy.replace(/\.$/, "")}: `, <code>{cut(remedy_code, 1000)}</code>];
}

/** Advice with its calls set as code. */
function adviceText(text: string) {
  const parts = cut(text, 1000).split(/((?:dataset|table|lance|lx)\.[\w.]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?)/);
  return parts.map((part, i) => (i % 2 ? <code>{part}</code> : part));
}
