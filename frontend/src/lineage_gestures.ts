// Mouse and wheel over a picture that is moved about: what is pointed at, clicked, dragged and zoomed.

interface Gestures {
  /** Whether there is a picture yet. */
  isReady: () => boolean;
  /** Whether all is in sight, so that nothing is left to zoom out of. */
  isWhole: () => boolean;
  onPoint: (event: PointerEvent, x: number, y: number) => void;
  onLeave: () => void;
  onClick: (x: number, y: number) => void;
  onTwice: (x: number, y: number) => void;
  /** The picture is dragged so far, in px. */
  onDrag: (dx: number, dy: number) => void;
  /** The wheel goes so far along the versions, in px. */
  onWheel: (dx: number) => void;
  onZoom: (factor: number, x: number) => void;
}

type Turn = Pick<WheelEvent, "deltaX" | "deltaY" | "ctrlKey" | "shiftKey">;

/** How far the pointer may go until a click is a drag, in px. */
const STILL = 4;

/** Tell what the pointer does over an element, in px from its left and top. */
export function watchGestures(element: HTMLElement, gestures: Gestures) {
  let drag: { x: number; y: number; isMoving: boolean } | null = null;

  const placeOf = (event: MouseEvent): [number, number] => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !gestures.isReady()) return;
    drag = { x: event.clientX, y: event.clientY, isMoving: false };
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    if (!drag) {
      gestures.onPoint(event, ...placeOf(event));
      return;
    }
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.isMoving && Math.hypot(dx, dy) < STILL) return;
    drag = { x: event.clientX, y: event.clientY, isMoving: true };
    element.style.setProperty("cursor", "grabbing");
    gestures.onDrag(dx, dy);
  });
  element.addEventListener("pointerup", (event) => {
    if (drag && !drag.isMoving) gestures.onClick(...placeOf(event));
    drag = null;
  });
  element.addEventListener("pointercancel", () => {
    drag = null;
  });
  element.addEventListener("pointerleave", gestures.onLeave);
  element.addEventListener("dblclick", (event) => {
    if (gestures.isReady()) gestures.onTwice(...placeOf(event));
  });
  element.addEventListener(
    "wheel",
    (event) => {
      if (!gestures.isReady() || !(event.ctrlKey || element.contains(document.activeElement))) return;
      const turn = turnOf(event, gestures.isWhole());
      if (!turn) return; // the page goes on
      event.preventDefault();
      if ("dx" in turn) gestures.onWheel(turn.dx);
      else gestures.onZoom(turn.factor, placeOf(event)[0]);
    },
    { passive: false },
  );
}

/** What a turn of the wheel does: moves by so many px, zooms by a factor, or nothing where all is in sight. */
export function turnOf(
  { deltaX, deltaY, ctrlKey, shiftKey }: Turn,
  isWhole: boolean,
): { dx: number } | { factor: number } | null {
  if (deltaY > 0 && isWhole && !ctrlKey && !deltaX) return null;
  if (shiftKey || Math.abs(deltaX) > Math.abs(deltaY)) return { dx: deltaX || deltaY };
  return { factor: Math.exp(-deltaY * 0.0022) };
}
