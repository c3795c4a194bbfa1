import { expect, test, vi } from "vitest";
import { movedAbout, turnOf } from "../src/lineage_gestures";
import { type Sight, sightOf } from "../src/lineage_span";

const WHOLE = sightOf(1, 45);

function picture(whole = WHOLE) {
  const element = document.createElement("div");
  const actions = { onMove: vi.fn(), onPoint: vi.fn(), onLeave: vi.fn(), onClick: vi.fn() };
  const view = movedAbout(element, { isReady: () => true, isFree: () => true, ...actions });
  view.setWhole(whole, false);
  view.setWidth(824);
  return { element, view, ...actions };
}

function expectSight(view: { sight: () => Sight }, x0: number, x1: number) {
  expect(view.sight()).toEqual({ x0: expect.closeTo(x0), x1: expect.closeTo(x1) });
}

test("what is in sight stays within the whole", () => {
  const { view } = picture();
  expect(view.sight()).toEqual(WHOLE);
  view.show({ x0: 10, x1: 20 });
  expectSight(view, 10, 20);
  view.show({ x0: -5, x1: 5 });
  expectSight(view, 0.6, 10.6);
  view.move(1000);
  expectSight(view, 35.4, 45.4);
  view.show({ x0: -100, x1: 100 });
  expectSight(view, WHOLE.x0, WHOLE.x1);
});

test("three versions are in sight at least, or all of fewer", () => {
  const { view } = picture();
  view.show({ x0: 20, x1: 20.1 });
  expectSight(view, 18.55, 21.55);
  const one = sightOf(7, 7);
  const small = picture(one).view;
  small.zoom(8);
  expectSight(small, one.x0, one.x1);
});

test("zooming out as far as in shows everything again", () => {
  const { view, onMove } = picture();
  expect(onMove).not.toHaveBeenCalled();
  for (const factor of [1.5, 1.5, 1.5, 1 / 1.5, 1 / 1.5]) view.zoom(factor);
  expect(view.isWhole()).toBe(false);
  view.zoom(1 / 1.5);
  expect(view.isWhole()).toBe(true);
  expect(onMove).toHaveBeenCalledTimes(6);
  expect(onMove).toHaveBeenLastCalledWith(0);
});

test("what is in sight stays when the picture gets wider, or more versions are the whole", () => {
  const { view, onMove } = picture();
  view.show({ x0: 10, x1: 20 });
  onMove.mockClear();
  view.setWidth(500);
  expectSight(view, 10, 20);
  view.setWhole(sightOf(1, 90), true);
  expectSight(view, 10, 20);
  view.setWhole(sightOf(1, 90), false);
  expect(view.isWhole()).toBe(true);
  expect(onMove).not.toHaveBeenCalled();
});

test("a drag moves along the versions and scrolls up and down, which zooming does not", () => {
  const { element, view, onMove } = picture();
  view.show({ x0: 10, x1: 20 });
  const fire = (target: EventTarget, type: string, clientX: number, clientY: number) =>
    target.dispatchEvent(new MouseEvent(type, { bubbles: true, clientX, clientY, view: window }));
  fire(element, "mousedown", 400, 100);
  fire(window, "mousemove", 320, 70);
  expectSight(view, 11, 21);
  expect(onMove).toHaveBeenLastCalledWith(-30);
  fire(window, "mouseup", 320, 70);
  fire(element, "dblclick", 12, 150);
  expectSight(view, 11, 16);
  expect(onMove).toHaveBeenLastCalledWith(0);
});

test("the wheel is the page's until the picture has the focus, but with Ctrl", () => {
  const { element, view } = picture();
  document.body.append(element);
  element.tabIndex = 0;
  // a WheelEvent of happy-dom has no place, and no keys
  const turned = ({ ctrlKey, ...delta }: WheelEventInit) => {
    const event = new MouseEvent("wheel", { cancelable: true, clientX: 12, ctrlKey });
    return !element.dispatchEvent(Object.assign(event, { deltaX: 0, deltaY: 0, deltaMode: 0 }, delta));
  };
  expect(turned({ deltaY: -100 })).toBe(false);
  expect(view.isWhole()).toBe(true);
  expect(turned({ deltaY: -100, ctrlKey: true })).toBe(true);
  expectSight(view, WHOLE.x0, WHOLE.x0 + 44.8 / 2 ** 0.4);
  element.focus();
  expect(turned({ deltaY: 1000 })).toBe(true);
  expect(view.isWhole()).toBe(true);
  expect(turned({ deltaY: 100 })).toBe(false);
  view.show({ x0: 10, x1: 20 });
  expect(turned({ deltaX: 160 })).toBe(true);
  expectSight(view, 12, 22);
});

test("a turn of the wheel zooms or moves, and leaves the page to scroll where all is in sight", () => {
  const turn = { deltaX: 0, deltaY: 100, ctrlKey: false, shiftKey: false };
  expect(turnOf(turn, true)).toBeNull();
  expect(turnOf({ ...turn, ctrlKey: true }, true)).toBe(0);
  expect(turnOf({ ...turn, deltaY: -100 }, true)).toBe(0);
  expect(turnOf({ ...turn, shiftKey: true }, false)).toBe(100);
  expect(turnOf({ ...turn, deltaX: -120 }, false)).toBe(-120);
});
