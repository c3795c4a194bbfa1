// Which table the explorer is of, and the choice of its branches.

import { fill, node } from "./elements";
import type { About } from "./messages";
import { cut, visible } from "./text";

/** The title: `element`, `show(about)`; `onBranch(name)` is called with a branch, null for main. */
export function explorerTitle(onBranch: (branch: string | null) => void) {
  const element = node("div", { class: "lx-explorer-title" });

  function branchBox({ branch, branches }: About) {
    const box: HTMLSelectElement = node(
      "select",
      { class: "lx-input", onchange: () => onBranch(box.value || null) },
      node("option", { value: "" }, "main"),
      ...branches.map((name) => node("option", { value: name }, cut(name, 60))),
    );
    box.value = branch ?? "";
    return node("label", { class: "lx-quiet lx-explorer-branch" }, "branch ", box);
  }

  return {
    element,
    show(about: About) {
      const { name, uri, branch, branches } = about;
      const named = branch === null ? null : node("span", { class: "lx-quiet" }, `branch ${cut(branch, 40)}`);
      fill(element, node("strong", {}, cut(name, 60)), branches.length ? branchBox(about) : named);
      element.title = visible(uri);
    },
  };
}
