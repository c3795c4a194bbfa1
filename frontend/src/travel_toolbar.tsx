// The bar of time travel: steps from commit to commit, and the box that goes to a version, tag or time.

import { useSignal } from "@preact/signals";
import type { History } from "./history";
import type { Link } from "./link";
import { Refresh, set, useName } from "./reactive";
import { TagList } from "./tag_list";
import { Total } from "./version_words";

interface TravelProps {
  link: Link;
  history: History | null;
  position: number;
  /** To the next commit in a direction: of one kind, or any for "". */
  onStep: (direction: number, kind: string) => void;
  onFind: (text: string) => void;
  onRefresh: () => void;
}

export function TravelToolbar({ link, history, position, onStep, onFind, onRefresh }: TravelProps) {
  const tags = useName();
  const text = useSignal("");
  const chosen = useSignal("");
  const codes = new Set(history?.kind);
  const kinds = history?.kinds.filter((_, code) => codes.has(code)) ?? [];
  const kind = kinds.includes(chosen.value) ? chosen.value : "";
  const find = () => text.value.trim() && onFind(text.value);
  const step = (sign: string, title: string, direction: number, end: number | undefined) => (
    <button
      class="lx-button lx-step"
      title={title}
      aria-label={title}
      disabled={position === end}
      onClick={() => onStep(direction, kind)}
    >
      {sign}
    </button>
  );
  return (
    <div class="lx-toolbar">
      {step("‹", "Previous commit", -1, 0)}
      <select
        class="lx-input"
        aria-label="Kind of commit to step to"
        value={kind}
        onChange={({ currentTarget }) => set(chosen, currentTarget.value)}
      >
        <option value="">any commit</option>
        {kinds.map((name) => (
          <option value={name}>{name}</option>
        ))}
      </select>
      {step("›", "Next commit", 1, history ? history.count - 1 : undefined)}
      <input
        class="lx-input lx-find"
        type="text"
        placeholder="7, tag, yesterday"
        aria-label="Go to a version, a tag, or a time in UTC"
        list={tags}
        maxLength={200}
        onInput={({ currentTarget }) => set(text, currentTarget.value)}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === "Enter") find();
        }}
      />
      <TagList id={tags} history={history} />
      <button class="lx-button" onClick={find}>
        Go
      </button>
      <Total of={history} />
      <Refresh link={link} onClick={onRefresh} />
    </div>
  );
}
