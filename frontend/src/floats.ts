// What floats beside an element, or beside the pointer: within the window, on top of all.

import {
  autoUpdate,
  computePosition,
  flip,
  offset,
  type Placement,
  type ReferenceElement,
  shift,
} from "@floating-ui/dom";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Put an element beside something: where it is asked for, or else where there is room. */
export async function placeBeside(anchor: ReferenceElement, element: HTMLElement, placement: Placement, gap: number) {
  const middleware = [offset(gap), flip(), shift({ padding: 4, crossAxis: true })];
  const { x, y } = await computePosition(anchor, element, { strategy: "fixed", placement, middleware });
  Object.assign(element.style, { left: `${x}px`, top: `${y}px` });
}

/** Gives what an anchor and what floats below it refer to, and keeps the one beside the other. */
export function useFloating<Anchor extends HTMLElement>(placement: Placement, isOpen: boolean) {
  const [anchor, element] = [useRef<Anchor>(null), useRef<HTMLDivElement>(null)];
  useLayoutEffect(() => {
    const [held, floats] = [anchor.current, element.current];
    return held && floats ? autoUpdate(held, floats, () => placeBeside(held, floats, placement, 4)) : undefined;
  }, [isOpen]);
  return [anchor, element] as const;
}
