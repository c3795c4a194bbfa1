// Copying text, also where the page is not from a secure place.

import { node } from "./elements";

/** Copy text, also where the page is not from a secure place; tell whether that worked. */
export async function toClipboard(text: string) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = node("textarea", { style: { position: "fixed", opacity: 0 } });
    area.value = text;
    const before = document.activeElement;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    if (before instanceof HTMLElement) before.focus();
    return isCopied;
  }
}
