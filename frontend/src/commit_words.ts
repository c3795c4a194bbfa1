// What commits did, in words: asked for in parts, as they are looked at.

import { fill, node, rich } from "./elements";
import type { Link } from "./link";
import type { Failure } from "./messages";

/** Asks Python for the words of the commits from one version to another. */
export type AskWords = (first: string, last: string) => Promise<Record<string, string>>;

/** Ask over the line of a view. */
export function askWords(link: Link): AskWords {
  return (first, last) =>
    new Promise((resolve, reject) => {
      const failed = (failure: Failure, show: (failure: Failure) => void) => {
        show(failure);
        reject(failure);
      };
      const answered = link.ask<{ words: Record<string, string> }>("words", { first, last }, failed, true);
      answered.then(({ words }) => resolve(words));
    });
}

const PART = 500; // versions; recording.py keeps the same parts
const AHEAD = 10; // parts of the newest versions, which are asked for without being looked at

/**
 * The words of the commits of some versions: a function of the position that gives an element. It
 * has the words, or gets them when they are known. Parts that are looked at come first.
 */
export function commitWords(versions: BigUint64Array, ask: AskWords) {
  const known: (Record<string, string> | undefined)[] = [];
  const waiting = new Map<number, [HTMLElement, string][]>();
  const last = Math.floor((versions.length - 1) / PART);
  let wanted: number[] = [];
  let isAsking = false;

  async function askNext() {
    if (isAsking) return;
    const part = wanted.shift() ?? nextAhead();
    if (part === undefined) return;
    isAsking = true;
    try {
      const begin = part * PART;
      const end = Math.min(begin + PART, versions.length) - 1;
      const words = await ask(String(versions[begin]), String(versions[end]));
      known[part] = words;
      for (const [element, version] of waiting.get(part) ?? []) show(element, words[version]);
    } catch {
      return; // the view shows why; what is looked at next asks again
    } finally {
      waiting.delete(part);
      isAsking = false;
    }
    askNext();
  }

  function nextAhead() {
    for (let part = last; part > last - AHEAD && part >= 0; part -= 1) if (!known[part]) return part;
    return undefined;
  }

  function show(element: HTMLElement, words: string | undefined) {
    element.classList.remove("lx-quiet");
    fill(element, ...rich(words ?? ""));
  }

  return (position: number): HTMLElement => {
    const version = String(versions[position]);
    const element = node("span", { class: "lx-quiet" }, "…");
    const part = Math.floor(position / PART);
    const words = known[part];
    if (words) {
      show(element, words[version]);
      return element;
    }
    waiting.set(part, [...(waiting.get(part) ?? []), [element, version]]);
    wanted = [part, ...wanted.filter((other) => other !== part)];
    askNext();
    return element;
  };
}
