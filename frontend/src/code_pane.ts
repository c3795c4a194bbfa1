// The lines of Python for what is shown.

import { node } from "./elements";
import { visible } from "./text";

/** The code that was asked for, and whether it is on the clipboard. */
export function codePane() {
  const words = node("span", { class: "lx-quiet" });
  const text = node("pre", { tabindex: 0, "aria-label": "Code" });
  const close = () => {
    element.hidden = true;
  };
  const element = node(
    "div",
    { class: "lx-explorer-code", role: "status", hidden: true },
    node(
      "div",
      { class: "lx-explorer-foot" },
      words,
      node("button", { class: "lx-button lx-small", onclick: close }, "Close"),
    ),
    text,
  );
  return {
    element,
    close,
    show(code: string, isCopied: boolean) {
      words.textContent = isCopied
        ? "Copied. Paste it into a cell:"
        : "The browser did not allow copying: select the code here.";
      text.textContent = code.split("\n").map(visible).join("\n");
      element.hidden = false;
      if (isCopied) return;
      getSelection()?.selectAllChildren(text);
    },
  };
}
