// What a view is given: its model, which speaks to Python, and the element to fill.

import type { PageAddress } from "./address";
import type { Question, ViewMessage, ViewTraits } from "./messages";

/** The values that Python shares with a view, by name. */
export interface Traits extends ViewTraits {
  /** Where no Python answers: why what needs it cannot be used. */
  offline?: string | null;
  /** The page that it is on, if that has an address for what is shown. */
  page?: PageAddress;
}

/** Hears what a view tells, with the bytes of its arrays. */
export type Heard = (told: ViewMessage, buffers: DataView[]) => void;

/** The part of an anywidget's model that views use. */
export interface Model {
  /** The model over which it speaks, if it is one of several within that. */
  readonly whole?: Model;
  get<Name extends keyof Traits>(name: Name): Traits[Name];
  send(question: Question): void;
  on(event: "msg:custom", listener: Heard): void;
  on(event: `change:${keyof Traits}`, listener: () => void): void;
  off(event: "msg:custom", listener: Heard): void;
  off(event: `change:${keyof Traits}`, listener: () => void): void;
}

export interface View {
  model: Model;
  el: HTMLElement;
}
