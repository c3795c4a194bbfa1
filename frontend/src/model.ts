// What a view is given: its model, which speaks to Python, and the element to fill.

import type { Live, Place, State } from "./messages";

/** The values that Python shares with a view, by name. */
export interface Traits {
  /** The module that draws it; see views.ts. */
  shows: string;
  shared: State & { revision: number };
  label: string;
  opens: string[];
  height: number;
  kind: string;
  place: Place;
  live: Live;
  parts: Record<string, Part>;
  /** Where no Python answers: why what needs it cannot be used. */
  offline?: string;
}

/** The part of an anywidget's model that views use. */
export interface Model {
  /** The model over which it speaks, if it is one of several within that. */
  readonly whole?: Model;
  get<Name extends keyof Traits>(name: Name): Traits[Name];
  send(content: unknown): void;
  on(event: "msg:custom", listener: (content: never, buffers: DataView[]) => void): void;
  on(event: `change:${keyof Traits}`, listener: () => void): void;
  off(event: "msg:custom", listener: (content: never, buffers: DataView[]) => void): void;
  off(event: `change:${keyof Traits}`, listener: () => void): void;
}

/** A view within another one: its number in messages, and its traits; the state is that of the whole. */
export type Part = { number: number } & Pick<Traits, "shows" | "label" | "opens"> & Partial<Omit<Traits, "shared">>;

export interface View {
  model: Model;
  el: HTMLElement;
}
