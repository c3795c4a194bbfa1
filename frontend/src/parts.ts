// Views within one model: each has a model of its own, which speaks over that one under its number.

import type { Part, Question } from "./messages";
import type { Heard, Model, Traits } from "./model";
import { VIEWS } from "./views";

type Event = "msg:custom" | `change:${keyof Traits}`;
type Listener = Heard | (() => void);

/** A model that hears only the messages for one part, or for none. */
class Filtered implements Model {
  readonly whole: Model;
  private readonly number: number | undefined;
  private readonly hearing = new Map<Listener, Listener>();

  constructor(model: Model, number?: number) {
    this.whole = model;
    this.number = number;
  }

  get<Name extends keyof Traits>(name: Name): Traits[Name] {
    return this.whole.get(name);
  }

  send(question: Question) {
    this.whole.send(question);
  }

  on(event: Event, listener: Listener) {
    const hear = event === "msg:custom" ? this.ofMine(listener as Heard) : this.ofChange(event, listener as () => void);
    this.hearing.set(listener, hear);
    this.whole.on(this.source(event) as "msg:custom", hear as Heard);
  }

  off(event: Event, listener: Listener) {
    const hear = this.hearing.get(listener);
    if (hear) this.whole.off(this.source(event) as "msg:custom", hear as Heard);
    this.hearing.delete(listener);
  }

  private ofMine(listener: Heard): Heard {
    return (told, buffers) => {
      const [number, ...within] = told.part ?? [];
      if (number === this.number) listener({ ...told, part: within }, buffers);
    };
  }

  /** The event of the whole model that tells of an event. */
  protected source(event: Event): Event {
    return event;
  }

  protected ofChange(_event: Event, listener: () => void): Listener {
    return () => listener();
  }
}

/** The model of a part: its traits are in the trait `parts`; what is chosen may be chosen in the whole. */
class PartModel extends Filtered {
  private readonly name: string;
  private readonly part: Part;

  constructor(model: Model, name: string, part: Part) {
    super(model, part.number);
    this.name = name;
    this.part = part;
  }

  override get<Name extends keyof Traits>(name: Name): Traits[Name] {
    const now = this.whole.get("parts")[this.name];
    const traits = (now?.number === this.part.number ? now : this.part) as Partial<Traits>;
    if (name === "shared" && !traits.shared) return this.whole.get(name);
    return traits[name] as Traits[Name];
  }

  override send(question: Question) {
    this.whole.send({ ...question, part: [this.part.number, ...(question.part ?? [])] });
  }

  protected override source(event: Event): Event {
    return event === "msg:custom" ? event : "change:parts";
  }

  protected override ofChange(event: Event, listener: () => void): Listener {
    const name = event.slice("change:".length) as keyof Traits;
    let known = JSON.stringify(this.get(name));
    return () => {
      const now = JSON.stringify(this.get(name));
      if (now === known) return;
      known = now;
      listener();
    };
  }
}

/** Return the model for what is no part: it hears no message that is for one. */
export function withoutParts(model: Model): Model {
  return new Filtered(model);
}

interface Shown {
  number: number;
  element: HTMLElement;
  close: () => void;
}

/** The views that were made: `show(name)` shows one of them and hides the others; `close()`. */
export function viewsOf(model: Model, root: HTMLElement) {
  const views = new Map<string, Shown>();

  function add(name: string, part: Part) {
    const element = document.createElement("div");
    element.hidden = true;
    root.append(element);
    const close = VIEWS[part.shows]({ model: new PartModel(model, name, part), el: element });
    views.set(name, { number: part.number, element, close });
  }

  function remove(name: string) {
    const view = views.get(name);
    view?.close();
    view?.element.remove();
    views.delete(name);
  }

  return {
    show(name: string) {
      const parts = model.get("parts");
      for (const other of [...views.keys()]) if (!parts[other]) remove(other);
      for (const [other, part] of Object.entries(parts)) {
        if (views.get(other)?.number === part.number) continue;
        remove(other);
        add(other, part);
      }
      for (const [other, { element }] of views) element.hidden = other !== name;
    },
    close() {
      for (const name of [...views.keys()]) remove(name);
    },
  };
}
