// Keys that choose: how far one goes with each.

/** Return how far a key goes, undefined for one that does not. */
export function stepOf(key: string, steps: Record<string, number>): number | undefined {
  return steps[key];
}

/** Whether a key is pressed with one that makes it a command of the page or the browser. */
export function isCommand(event: KeyboardEvent): boolean {
  return event.altKey || event.ctrlKey || event.metaKey;
}
