// Keys that choose: how far one goes with each.

/** Return how far a key goes, undefined for one that does not. */
export function stepOf(key: string, steps: Record<string, number>): number | undefined {
  return steps[key];
}

/** Where each key leads from a position of a slider over kept versions; the highest is `count` - 1. */
export function sliderTargets(position: number, lowest: number, count: number): Record<string, number> {
  const page = Math.max(2, Math.round(count / 20));
  return {
    ArrowLeft: position - 1,
    ArrowDown: position - 1,
    ArrowRight: position + 1,
    ArrowUp: position + 1,
    PageDown: position - page,
    PageUp: position + page,
    Home: lowest,
    End: count - 1,
  };
}

/** Whether a key is pressed with one that makes it a command of the page or the browser. */
export function isCommand(event: KeyboardEvent): boolean {
  return event.altKey || event.ctrlKey || event.metaKey;
}
