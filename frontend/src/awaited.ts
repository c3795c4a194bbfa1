// Parts of a view that wait for an answer: nothing of them is seen before their first one, and before a later one
// they are pale.

/**
 * What is awaited has nothing to show yet, but its place: an empty table would say that there are no rows. Gives
 * `come()`, once it shows an answer, and `wait()`, while it shows one that is not the newest.
 */
export function awaited(...parts: HTMLElement[]) {
  for (const part of parts) part.classList.add("lx-unread");
  return {
    come() {
      for (const part of parts) part.classList.remove("lx-unread", "lx-stale");
    },
    wait() {
      for (const part of parts) part.classList.add("lx-stale");
    },
  };
}
