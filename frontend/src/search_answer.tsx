// The answer below a search box: a sentence, lines that lead to what they tell of, and its code.

import { sectionsOf } from "./answer_sections";
import { rich } from "./elements";
import type { AnswerPlace, SearchAnswer } from "./messages";
import { CopyButton } from "./reactive";
import { cut, visible } from "./text";

export interface AnswerActions {
  /** Ask another question. */
  onAsk: (question: string) => void;
  /** Search further for rows. */
  onMore: () => void;
  /** Show what an answer, or a line of one, tells of. */
  onOpen: (place: AnswerPlace) => void;
  canOpen: (place: AnswerPlace) => boolean;
}

/** An answer below the box; `onClose` takes it away. */
export function Answer({ answer, onClose, ...actions }: { answer: SearchAnswer; onClose: () => void } & AnswerActions) {
  const { place, sentence, sections, findings, asks, code, is_call, can_go_on } = answer;
  const { onAsk, onMore, onOpen, canOpen } = actions;
  return (
    <div class="lx-search-answer">
      <p class="lx-search-sentence">{rich(cut(sentence, 1000))}</p>
      {sectionsOf(sections, actions)}
      {findings.length > 0 && (
        <ul>
          {findings.map((found) => (
            <li>{rich(cut(found.sentence, 600))}</li>
          ))}
        </ul>
      )}
      {is_call && <pre class="lx-search-code">{code.split("\n").map(visible).join("\n")}</pre>}
      <div class="lx-search-actions">
        {asks.map(({ words, question }) => (
          <button class="lx-button lx-small" title={visible(question)} onClick={() => onAsk(question)}>
            {visible(words)}
          </button>
        ))}
        {place && canOpen(place) && (
          <button class="lx-button lx-small" onClick={() => onOpen(place)}>
            {visible(place.words)}
          </button>
        )}
        {can_go_on && (
          <button class="lx-button lx-small" onClick={onMore}>
            Search on
          </button>
        )}
        <CopyButton key={code} text={code} title={`Copy:\n${visible(code)}`}>
          Copy answer as code
        </CopyButton>
        <button class="lx-button lx-small" onClick={onClose}>
          Close
        </button>
      </div>
    </div>
  );
}
