// What TypeScript reads of each message is what Python says: see tests/widgets/sent.py, which writes
// both. That each is of the type that messages.ts declares, tsc checks.

import { describe, expect, it } from "vitest";
import { bytesOf, unpackKept } from "../src/arrays";
import { connect } from "../src/link";
import { LocalModel } from "../src/local_model";
import type { News, Packed, PageMessage, Question, ViewMessage } from "../src/messages";
import type { Traits } from "../src/model";
import { SENT } from "./sent";

const NEWS = "news ";

/** A model to which Python answers what was recorded. */
class Recorded extends LocalModel {
  private readonly told: ViewMessage;
  private readonly buffers: DataView[];

  constructor([text, ...buffers]: string[]) {
    super();
    const { num_buffers, content } = JSON.parse(text) as PageMessage;
    expect(buffers.length).toBe(num_buffers);
    this.told = content as ViewMessage;
    this.buffers = buffers.map((buffer) => new DataView(bytesOf(buffer).buffer));
    const nothing = { version: null, compared_version: null, fragment_id: null, row_id: null, filter: "" };
    this.set({ label: "", opens: [], shared: { ...nothing, revision: 0 } });
  }

  get kind() {
    return this.told.kind;
  }

  send({ kind, seq, asker }: Question) {
    expect(kind).toBe(this.told.kind);
    queueMicrotask(() => this.tell("msg:custom", { ...this.told, seq, asker }, this.buffers));
  }

  tellNews() {
    this.tell("msg:custom", this.told, this.buffers);
  }

  hear({ state }: PageMessage) {
    this.set(state as Partial<Traits>);
    return this.traits;
  }
}

/** What a view reads of a message; an error is what its question fails with. */
function read(model: Recorded) {
  const link = connect<Record<string, [object, object]>>(model, document.createElement("div"));
  return new Promise<object>((resolve) => {
    link.ask(model.kind, {}, (failure) => resolve(failure)).then(resolve);
  });
}

describe("TypeScript reads what Python says", () => {
  const all = Object.entries(SENT).map(([name, { said, sent }]) => ({ name, said: said as unknown, sent }));
  const of = (isOne: (name: string) => boolean) => all.filter(({ name }) => isOne(name));
  const isNews = (name: string) => name.startsWith(NEWS);
  const isKept = (name: string) => name.startsWith("kept ");
  const isAside = (name: string) =>
    isNews(name) || isKept(name) || /^(page|traits|taken|progress|View state)\b/.test(name);

  it.each(of((name) => !isAside(name)))("in the answer $name", async ({ said, sent }) => {
    expect(await read(new Recorded(sent))).toEqual(said);
  });
  it.each(of(isNews))("in the $name", ({ said, sent }) => {
    const model = new Recorded(sent);
    const heard: unknown[] = [];
    const link = connect(model, document.createElement("div"));
    link.on(model.kind as keyof News, (content) => heard.push(content));
    model.tellNews();
    expect(heard).toEqual([said]);
  });
  it.each(of(isKept))("in what a page has: $name", ({ said, sent }) => {
    expect(unpackKept(JSON.parse(sent[0]) as Packed)).toEqual(said);
  });
  it("in what a page begins with", () => expect(JSON.parse(SENT.page.sent[0])).toEqual(SENT.page.said));
  it.each(of((name) => /^(progress|taken|View state)\b/.test(name)))("of how far it is: $name", ({ said, sent }) => {
    expect((JSON.parse(sent[0]) as { content: ViewMessage }).content.content).toEqual(said);
  });
  it.each(of((name) => name.startsWith("traits")))("in $name", ({ said, sent }) => {
    const model = new Recorded(SENT.taken.sent);
    expect(model.hear(JSON.parse(sent[0]))).toMatchObject(said as object);
  });
});
