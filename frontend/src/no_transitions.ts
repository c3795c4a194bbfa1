// Stands for d3-transition, which d3-zoom imports and uses only for moves that take time: ours take none. So it and
// what it imports (colors, easing, timers) stay out of the script; tools/build_frontend.py names this module.

import { selection } from "d3-selection";

type Selected = ReturnType<typeof selection>;

/** End the move of an element: there is none. */
export function interrupt() {}

(selection.prototype as Selected & { interrupt(): Selected }).interrupt = function () {
  return this;
};
