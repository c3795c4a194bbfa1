// Moving about in a lineage picture by mouse, wheel and fingers: d3-zoom along the versions, px up and down.

import { pointer, select } from "d3-selection";
import { ZoomTransform, zoom, zoomTransform } from "d3-zoom";
import { enlarged, FEWEST, SIDE, type Sight, sightUnder, unitOf, width } from "./lineage_span";

interface Gestures {
  /** Whether there is a picture yet. */
  isReady: () => boolean;
  /** Whether a double click at a place zooms. */
  isFree: (x: number, y: number) => boolean;
  /** Other versions are in sight, or the lanes are dragged so far down, in px. */
  onMove: (down: number) => void;
  onPoint: (event: PointerEvent, x: number, y: number) => void;
  onLeave: () => void;
  onClick: (x: number, y: number) => void;
}

type Turn = Pick<WheelEvent, "deltaX" | "deltaY" | "ctrlKey" | "shiftKey">;

/** How far the pointer may go until a click is a drag, in px. */
const STILL = 4;

/** How often the wheel doubles what it zooms, by a px, a line and a page. */
const DOUBLINGS = [0.0032, 0.08, 1.6];

/** With Ctrl, which two fingers on a pad press, too: how much faster, and the most at once. */
const [FASTER, MOST] = [10, 0.4];

/**
 * What is in sight of an element over versions: `sight()`, `isWhole()`, `whole()`, `setWhole(whole, stays)`,
 * `setWidth(wide)`, `show(sight)`, `zoom(factor)`, `move(versions)`.
 */
export function movedAbout(element: HTMLElement, gestures: Gestures) {
  let whole: Sight = { x0: 0, x1: 1 };
  let wide = 1000; // until it is drawn
  let placed: ZoomTransform | null = null; // what only keeps in sight what is
  let latest = zoomTransform(element);
  const selection = select(element);
  const behavior = zoom<HTMLElement, unknown>();

  const sight = () => sightUnder(latest, whole, wide);
  const isWhole = () => latest.k < 1 + 1e-9; // rounding may add a little
  const between = (tall: number): [[number, number], [number, number]] => [
    [SIDE, -tall],
    [wide - SIDE, tall],
  ];
  const hasFocus = () => element.contains((element.getRootNode() as Document | ShadowRoot).activeElement);
  const pageGoesOn = (event: WheelEvent) =>
    !gestures.isReady() || !(event.ctrlKey || hasFocus()) || turnOf(event, isWhole()) === null;
  const isTwice = ({ type }: Event) => type === "dblclick" || type === "touchend"; // the second tap of a finger

  behavior
    .extent(() => between(0))
    .clickDistance(STILL)
    .duration(0)
    .touchable(true) // a screen for fingers may be plugged in later
    .wheelDelta(({ deltaY, deltaMode, ctrlKey }) => {
      const delta = -deltaY * DOUBLINGS[deltaMode];
      return ctrlKey ? Math.min(Math.max(FASTER * delta, -MOST), MOST) : delta;
    })
    .filter((event) => {
      if (event.type === "wheel") return !pageGoesOn(event) && turnOf(event, false) === 0;
      if (!gestures.isReady() || event.ctrlKey || event.button) return false;
      return !isTwice(event) || gestures.isFree(...pointer(event.changedTouches?.[0] ?? event, element));
    })
    .on("zoom", ({ transform, sourceEvent }) => {
      const down = transform.k === latest.k ? transform.y - latest.y : 0; // d3 zooms the height, too; we do not
      latest = transform;
      if (transform === placed) return;
      if (sourceEvent?.type === "mousemove") element.style.setProperty("cursor", "grabbing");
      gestures.onMove(down);
    });

  element.addEventListener(
    "wheel",
    (event) => {
      if (pageGoesOn(event)) return;
      event.preventDefault(); // also where d3 has nothing left to zoom
      const aside = turnOf(event, false);
      if (aside) behavior.translateBy(selection, -aside / latest.k, 0);
    },
    { passive: false },
  );
  selection.call(behavior);
  element.addEventListener("pointermove", (event) => {
    if (!event.buttons && event.pointerType !== "touch") gestures.onPoint(event, ...pointer(event, element));
  });
  element.addEventListener("pointerleave", gestures.onLeave);
  element.addEventListener("click", (event) => gestures.onClick(...pointer(event, element)));

  /** Keep versions in sight in a picture that is changed. */
  function place(kept: Sight) {
    behavior.scaleExtent([1, Math.max(1, width(whole) / FEWEST)]).translateExtent(between(Infinity));
    placed = bounded(kept);
    behavior.transform(selection, placed);
  }

  /** The nearest to what is wanted that is within the whole, neither too narrow nor too wide. */
  function bounded(wanted: Sight) {
    const { k, x } = enlarged(wanted, whole, wide, behavior.scaleExtent());
    return behavior.constrain()(new ZoomTransform(k, x, latest.y), between(0), behavior.translateExtent());
  }

  return {
    sight,
    isWhole,
    whole: () => whole,
    /** Other versions are the whole; what is in sight stays if asked for. */
    setWhole(newest: Sight, stays: boolean) {
      const kept = stays ? sight() : newest;
      whole = newest;
      place(kept);
    },
    setWidth(newest: number) {
      const kept = sight();
      if (newest === wide || newest <= 2 * SIDE) return;
      wide = newest;
      place(kept);
    },
    show: (wanted: Sight) => behavior.transform(selection, bounded(wanted)),
    zoom: (factor: number) => behavior.scaleBy(selection, factor),
    move: (versions: number) => behavior.translateBy(selection, -versions * unitOf(whole, wide), 0),
  };
}

/** How far a turn of the wheel moves aside, in px; 0 if it zooms, null where all is in sight and the page goes on. */
export function turnOf({ deltaX, deltaY, ctrlKey, shiftKey }: Turn, isWhole: boolean): number | null {
  if (deltaY > 0 && isWhole && !ctrlKey && !deltaX) return null;
  return shiftKey || Math.abs(deltaX) > Math.abs(deltaY) ? deltaX || deltaY : 0;
}
