// The tags that the browser proposes in a box for a version.

import type { History } from "./history";

const MOST_TAGS = 500;

/** The list, which a box names as its list by its ID. */
export function TagList({ id, history }: { id: string; history: Pick<History, "tags"> | null }) {
  return (
    <datalist id={id}>
      {history?.tags.slice(0, MOST_TAGS).map(({ name }) => (
        <option value={name} />
      ))}
    </datalist>
  );
}
