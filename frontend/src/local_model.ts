// A model where no notebook has one: it holds the traits of its view, and tells of what comes to who listens.

import type { Question, Told } from "./messages";
import type { Model, Traits } from "./model";

type Listener = (told: Told, buffers: DataView[]) => void;

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

  protected tell(event: string, told?: Told, buffers: DataView[] = []) {
    for (const listener of [...(this.listeners.get(event) ?? [])]) listener(told as Told, buffers);
  }

  protected set(changed: Partial<Traits>) {
    this.traits = { ...this.traits, ...changed };
    for (const name of Object.keys(changed)) this.tell(`change:${name}`);
  }
}
