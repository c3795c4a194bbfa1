// A model where no notebook has one: it holds the traits of its view, and tells of what comes to who listens.

import type { Question, ViewMessage } from "./messages";
import type { Model, Traits } from "./model";

type Listener = (told: ViewMessage, buffers: DataView[]) => void;

export abstract class LocalModel implements Model {
  private readonly listeners = new Map<string, Set<Listener>>();
  protected traits: Partial<Traits> = {};

  abstract send(question: Question): void;

  get<Name extends keyof Traits>(name: Name): Traits[Name] {
    return this.traits[name] as Traits[Name];
  }

  on(event: string, listener: Listener) {
    this.listeners.set(event, (this.listeners.get(event) ?? new Set()).add(listener));
  }

  off(event: string, listener: Listener) {
    this.listeners.get(event)?.delete(listener);
  }

  protected tell(event: string, told?: ViewMessage, buffers: DataView[] = []) {
    for (const listener of [...(this.listeners.get(event) ?? [])]) listener(told as ViewMessage, buffers);
  }

  protected set(changed: Partial<Traits>) {
    this.traits = { ...this.traits, ...changed };
    for (const name of Object.keys(changed)) this.tell(`change:${name}`);
  }
}
