// The bar above a comparison: the boxes for both versions, and what else acts on the whole view.

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Range } from "./changes_words";
import type { History } from "./history";
import type { Link } from "./link";
import { Refresh, useName } from "./reactive";
import { TagList } from "./tag_list";
import { Total } from "./version_words";

interface RangeProps {
  link: Link;
  history: History | null;
  range: Range | null;
  onFind: (name: keyof Range, text: string) => void;
  onPreset: (name: string) => void;
  onRefresh: () => void;
}

export function RangeToolbar({ link, history, range, onFind, onPreset, onRefresh }: RangeProps) {
  const tags = useName();
  const boxes = (name: keyof Range) => ({
    version: range?.[name] ?? "",
    tags,
    onFind: (text: string) => onFind(name, text),
  });
  const preset = (text: string, title: string, name: string) => (
    <button class="lx-button" title={title} onClick={() => onPreset(name)}>
      {text}
    </button>
  );
  return (
    <div class="lx-toolbar">
      <label class="lx-check">
        From
        <VersionBox {...boxes("begin")} label="From version, tag or time" />
      </label>
      <label class="lx-check">
        to
        <VersionBox {...boxes("end")} label="To version, tag or time" />
      </label>
      <TagList id={tags} history={history} />
      {preset("One commit", "What the later version's commit did", "commit")}
      {preset("All", "From the first kept version to the latest", "all")}
      <Total of={history} />
      <Refresh link={link} onClick={onRefresh} />
    </div>
  );
}

interface BoxProps {
  /** What is compared; it takes the place of what is typed once it is another. */
  version: string;
  label: string;
  /** The ID of the list of tags. */
  tags: string;
  onFind: (text: string) => void;
}

function VersionBox({ version, label, tags, onFind }: BoxProps) {
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (box.current) box.current.value = version;
  }, [version]);
  const find = () => box.current?.value.trim() && onFind(box.current.value);
  return (
    <input
      ref={box}
      class="lx-input lx-find"
      type="text"
      aria-label={label}
      title="a version, a tag, or a time in UTC"
      list={tags}
      maxLength={200}
      spellcheck={false}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") find();
      }}
      onChange={find}
    />
  );
}
