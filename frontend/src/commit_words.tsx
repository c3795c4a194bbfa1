// What commits did, in words: asked for in parts, as they are looked at.

import { type Signal, signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { rich } from "./elements";
import type { Link } from "./link";
import type { Failure, VersionsViewQuestions } from "./messages";

/** Asks Python for the words of the commits from one version to another. */
export type AskWords = (first: string, last: string) => Promise<Record<string, string>>;

/** Ask over the line of a view. */
export function askWords(link: Link<VersionsViewQuestions>): AskWords {
  return (first, last) =>
    new Promise((resolve, reject) => {
      const failed = (failure: Failure, show: (failure: Failure) => void) => {
        show(failure);
        reject(failure);
      };
      const answered = link.ask("words", { first, last }, failed, true);
      answered.then(({ words }) => resolve(words));
    });
}

const PART = 500; // versions; recording.py keeps the same parts
const AHEAD = 10; // parts of the newest versions, which are asked for without being looked at

/**
 * The words of the commits of some versions, by position: they are asked for when they are drawn, and drawn when they
 * are known. Parts that are looked at come first.
 */
export function commitWords(versions: BigUint64Array, ask: AskWords) {
  const known = new Map<number, Signal<Record<string, string> | null>>();
  const last = Math.floor((versions.length - 1) / PART);
  let wanted: number[] = [];
  let isAsking = false;

  function wordsOf(part: number) {
    const words = known.get(part) ?? signal(null);
    known.set(part, words);
    return words;
  }

  async function askNext() {
    if (isAsking) return;
    const part = wanted.shift() ?? nextAhead();
    if (part === undefined) return;
    isAsking = true;
    try {
      const begin = part * PART;
      const end = Math.min(begin + PART, versions.length) - 1;
      wordsOf(part).value = await ask(String(versions[begin]), String(versions[end]));
    } catch {
      return; // the view shows why; what is looked at next asks again
    } finally {
      isAsking = false;
    }
    askNext();
  }

  function nextAhead() {
    for (let part = last; part > last - AHEAD && part >= 0; part -= 1) if (!wordsOf(part).peek()) return part;
    return undefined;
  }

  function Words({ position }: { position: number }) {
    const part = Math.floor(position / PART);
    const words = wordsOf(part).value;
    useLayoutEffect(() => {
      if (words) return;
      wanted = [part, ...wanted.filter((other) => other !== part)];
      askNext();
    }, [position]);
    return words ? <span>{rich(words[String(versions[position])] ?? "")}</span> : <span class="lx-quiet">…</span>;
  }

  return (position: number) => <Words position={position} />;
}
