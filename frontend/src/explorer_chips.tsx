// What is chosen, in the bar of the explorer.

import type { Changes, State } from "./messages";
import { count, cut } from "./text";

/** What is chosen, each as a chip, and a button on those that may be cleared. */
export function chips(state: State, setState: (changes: Changes) => void) {
  const { version, compared_version, fragment_id, row_id, filter } = state;
  const chip = (words: string, name: string, cleared?: Changes) => (
    <span class="lx-chip lx-explorer-chip" data-choice={name}>
      {words}
      {cleared && <CloseButton title={`Clear: ${words}`} onClick={() => setState(cleared)} />}
    </span>
  );
  const compared = compared_version === "0" ? "the empty table" : `version ${count(compared_version ?? "")}`;
  return (
    <>
      {version !== null && chip(`version ${count(version)}`, "version")}
      {compared_version !== null && chip(`compared with ${compared}`, "compared_version", { compared_version: null })}
      {fragment_id !== null && chip(`fragment ${count(fragment_id)}`, "fragment_id", { fragment_id: null })}
      {row_id !== null && chip(`row ${count(row_id)}`, "row_id", { row_id: null })}
      {filter && chip(`filter: ${cut(filter, 60)}`, "filter", { filter: "" })}
    </>
  );
}

export function CloseButton({ title, onClick }: { title: string; onClick: () => void }) {
  return (
    <button class="lx-explorer-clear" title={title} aria-label={title} onClick={onClick}>
      ✕
    </button>
  );
}
