// The head of a view of one version: which one it is, of which table, and what is the matter with it.

import "./version_head.css";
import { rich } from "./elements";
import type { History } from "./history";
import type { Link } from "./link";
import { Note, Refresh } from "./reactive";
import { absoluteTime, count, relativeTime } from "./text";
import { Total } from "./version_words";
import type { Versions } from "./versions";

interface HeadProps {
  link: Link;
  versions: Pick<Versions, "state" | "position"> & { history: { value: History | null } };
  onRefresh: () => void;
  /** What is said of all of it, "" for nothing. */
  note: string;
}

export function VersionHead({ link, versions: { history, state, position }, onRefresh, note }: HeadProps) {
  const every = history.value;
  const version = state.value.version ?? every?.versions[every.count - 1] ?? "?";
  const time = every?.timeAt(position.value);
  return (
    <header>
      <div class="lx-version-heading">
        <h3>Version {count(version)}</h3>
        <span class="lx-quiet">{time && `${relativeTime(time)} · ${absoluteTime(time)}`}</span>
        <Total of={every} />
        <Refresh link={link} onClick={onRefresh} />
      </div>
      <Note role="status">
        {every &&
          position.value < 0 &&
          `Version ${count(version)} is not among the ${count(every.count)} that are shown; Refresh looks for new ones`}
      </Note>
      <Note role="status">{note}</Note>
    </header>
  );
}

/** Sentences, one a line. */
export function sentenceList(sentences: string[]) {
  return (
    <ul class="lx-sentences">
      {sentences.map((text) => (
        <li>{rich(text)}</li>
      ))}
    </ul>
  );
}
