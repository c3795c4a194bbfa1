// Which table the explorer is of, and the choice of its branches.

import type { About } from "./messages";
import { cut, visible } from "./text";

/** The title; `onBranch(name)` is called with a branch, null for main. */
export function explorerTitle(about: About | null, onBranch: (branch: string | null) => void) {
  if (!about) return <div class="lx-explorer-title" />;
  const { name, uri, branch, branches } = about;
  const Name = document.body.classList.contains("lx-page") ? "h1" : "strong";
  return (
    <div class="lx-explorer-title" title={visible(uri)}>
      <Name>{cut(name, 60)}</Name>
      {branches.length ? (
        <label class="lx-quiet lx-explorer-branch">
          {"branch "}
          <select
            class="lx-input"
            value={branch ?? ""}
            onChange={({ currentTarget }) => onBranch(currentTarget.value || null)}
          >
            <option value="">main</option>
            {branches.map((one) => (
              <option value={one}>{cut(one, 60)}</option>
            ))}
          </select>
        </label>
      ) : (
        branch !== null && <span class="lx-quiet">branch {cut(branch, 40)}</span>
      )}
    </div>
  );
}
