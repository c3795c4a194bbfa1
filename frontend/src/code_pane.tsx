// The lines of Python for what is shown.

import { visible } from "./text";

interface CodeProps {
  code: string;
  /** Whether it is on the clipboard. */
  isCopied: boolean;
  onClose: () => void;
}

/** The code that was asked for; it is selected where it could not be copied. */
export function CodePane({ code, isCopied, onClose }: CodeProps) {
  return (
    <div class="lx-explorer-code" role="status">
      <div class="lx-explorer-foot">
        <span class="lx-quiet">
          {isCopied ? "Copied. Paste it into a cell:" : "The browser did not allow copying: select the code here."}
        </span>
        <button class="lx-button lx-small" onClick={onClose}>
          Close
        </button>
      </div>
      <pre
        tabIndex={0}
        role="group"
        aria-label="Code"
        ref={(text) => {
          if (text && !isCopied) getSelection()?.selectAllChildren(text);
        }}
      >
        {code.split("\n").map(visible).join("\n")}
      </pre>
    </div>
  );
}
