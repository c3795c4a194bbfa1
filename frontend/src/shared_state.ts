// What is chosen, once for all views of a widget: a change shows in all of them at once, and Python hears of it.

import type { Changes, State } from "./messages";
import type { Model } from "./model";

interface Store {
  state: State;
  revision: number;
  /** Changes that Python has not answered. */
  onTheWay: number;
  listeners: Set<() => void>;
  takeOver: () => void;
}

const STORES = new WeakMap<Model, Store>();

function storeOf(model: Model): Store {
  const { revision, ...state } = model.get("shared");
  const store: Store = { state, revision, onTheWay: 0, listeners: new Set(), takeOver };
  function takeOver() {
    const { revision: toldRevision, ...told } = model.get("shared");
    if (store.onTheWay || toldRevision < store.revision) return; // answers overtake the shared state
    const names = Object.keys(told) as (keyof State)[];
    if (names.every((name) => told[name] === store.state[name])) return;
    store.state = told;
    tellAll(store);
  }
  STORES.set(model, store);
  model.on("change:shared", takeOver);
  return store;
}

function tellAll({ listeners }: Store) {
  for (const listener of [...listeners]) if (listeners.has(listener)) listener();
}

/**
 * Let a view join; `hear` is called after every change, of whoever made it. Gives:
 *   state              what is chosen now
 *   change(changes)    changes it here; Python is still to be told. Gives what to call once it has
 *                      answered, with the revision that it tells, if any
 *   tell()             calls all that have joined
 *   leave()            ends it, and waits for no answer any more
 */
export function joinState(model: Model, hear: () => void) {
  const whole = model.whole ?? model;
  const store = STORES.get(whole) ?? storeOf(whole);
  const unanswered = new Set<object>();
  store.listeners.add(hear);

  // Every change is answered, also one that a newer one has overtaken: until the last of them has
  // come back, what Python says about the state is older than what is shown.
  function settle(change: object, revision = 0) {
    if (!unanswered.delete(change)) return;
    store.onTheWay -= 1;
    store.revision = Math.max(store.revision, revision);
    store.takeOver();
  }

  return {
    get state() {
      return store.state;
    },
    change(changes: Changes) {
      store.state = { ...store.state, ...changes };
      store.onTheWay += 1;
      unanswered.add(changes);
      return (revision?: number) => settle(changes, revision);
    },
    tell: () => tellAll(store),
    leave() {
      store.listeners.delete(hear);
      for (const change of [...unanswered]) settle(change);
      if (store.listeners.size) return;
      whole.off("change:shared", store.takeOver);
      STORES.delete(whole);
    },
  };
}
