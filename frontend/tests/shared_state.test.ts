import { expect, test } from "vitest";
import type { State } from "../src/messages";
import type { Model, Traits } from "../src/model";
import { joinState } from "../src/shared_state";

const NOTHING: State = { version: "5", compared_version: null, fragment_id: null, row_id: null, filter: "" };

/** A model that Python tells the state, with how often it has changed. */
function modelWith() {
  const listeners = new Set<() => void>();
  let shared = { ...NOTHING, revision: 0 };
  const model = {
    get: () => shared,
    on: (_: string, listener: () => void) => listeners.add(listener),
    off: (_: string, listener: () => void) => listeners.delete(listener),
  } as unknown as Model;
  const tell = (revision: number, changes: Partial<State>) => {
    shared = { ...shared, ...changes, revision };
    for (const listener of listeners) listener();
  };
  return { model, tell, listeners };
}

function partOf(whole: Model): Model {
  return { whole, get: (name: keyof Traits) => whole.get(name) } as unknown as Model;
}

test("a change is seen by all parts at once, before Python has heard of it", () => {
  const { model } = modelWith();
  const heard: string[] = [];
  const one = joinState(partOf(model), () => heard.push("one"));
  const other = joinState(model, () => heard.push("other"));
  one.change({ version: "4" });
  one.tell();
  expect(other.state.version).toBe("4");
  expect(heard).toEqual(["one", "other"]);
});

test("what Python tells is older than a change that it has not answered", () => {
  const { model, tell } = modelWith();
  const one = joinState(model, () => {});
  const [third, fourth] = [one.change({ version: "3" }), one.change({ version: "4" })];
  tell(1, { version: "3" });
  third(1);
  expect(one.state.version).toBe("4");
  fourth(2); // the answer overtakes the state
  expect(one.state.version).toBe("4");
  tell(2, { version: "4" });
  tell(3, { version: "9" });
  expect(one.state.version).toBe("9");
});

test("what Python refuses is undone everywhere", () => {
  const { model } = modelWith();
  const heard: (string | null)[] = [];
  const one = joinState(partOf(model), () => {});
  const other = joinState(partOf(model), () => heard.push(other.state.version));
  const settle = one.change({ version: "-1" });
  one.tell();
  settle();
  expect(heard).toEqual(["-1", "5"]);
});

test("a view that has gone waits for no answer, and the last one leaves the model", () => {
  const { model, tell, listeners } = modelWith();
  const one = joinState(partOf(model), () => {});
  const other = joinState(partOf(model), () => {});
  one.change({ version: "4" });
  one.leave();
  tell(1, { version: "7" });
  expect(other.state.version).toBe("7");
  other.leave();
  expect(listeners.size).toBe(0);
});
