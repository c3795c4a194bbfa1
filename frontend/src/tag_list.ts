// The tags that the browser proposes in a box for a version.

import { fill, node } from "./elements";
import type { History } from "./history";

const MOST_TAGS = 500;

/** The list: `element`, whose `id` a box names as its list, and `show(history)`. */
export function tagList() {
  const element = node("datalist", { id: `lx-tags-${Math.random().toString(36).slice(2)}` });
  return {
    element,
    show({ tags }: Pick<History, "tags">) {
      fill(element, ...tags.slice(0, MOST_TAGS).map(({ name }) => node("option", { value: name })));
    },
  };
}
