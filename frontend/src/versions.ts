// The versions that a view is of, and which of them is chosen.

import { computed, signal } from "@preact/signals";
import { askWords } from "./commit_words";
import { type History, historyOf } from "./history";
import type { Link } from "./link";
import type { Changes, VersionData, VersionsViewQuestions } from "./messages";

/** Versions that are asked for by `ask` and shown by `take`; `load` does both. */
export function versionsOf<Data extends VersionData>(
  link: Link<VersionsViewQuestions>,
  asked: (args: { refresh?: boolean }) => Promise<Data>,
) {
  const history = signal<(History & Data) | null>(null);
  const state = signal(link.state);
  link.onState((newest) => {
    state.value = newest;
  });

  /** The chosen one; -1 if it is not among them. */
  const position = computed(() => {
    const { version } = state.value;
    if (!history.value) return -1;
    return version === null ? history.value.count - 1 : (history.value.positionOf(version) ?? -1);
  });

  function moveTo(target: number, changes: Changes = {}) {
    if (history.value) link.setState({ ...changes, version: String(history.value.versions[target]) });
  }

  const ask = (isRefresh: boolean) => asked(isRefresh ? { refresh: true } : {});

  /** Whoever looks at the latest one and asks for new ones goes on to the new latest. */
  function take(content: Data, isRefresh: boolean) {
    const atEnd = history.value?.count && position.value === history.value.count - 1;
    const newest = historyOf(content, askWords(link));
    history.value = newest;
    if (isRefresh && atEnd && newest.count) moveTo(newest.count - 1);
    return newest;
  }

  return {
    history,
    state,
    position,
    moveTo,
    ask,
    take,
    load: async (isRefresh: boolean) => take(await ask(isRefresh), isRefresh),
  };
}

export type Versions<Data extends VersionData = VersionData> = ReturnType<typeof versionsOf<Data>>;
