// The explorer in a page without Python: its model answers from what recording.py kept in the page.

import "./page.css";
import { node } from "./elements";
import { unpackHistory } from "./history";
import { type Index, type Kept, keptAnswers } from "./kept_answers";
import { type KeptPage, keptRows } from "./kept_rows";
import type { About, Changes, Failure, HistoryContent, State } from "./messages";
import type { Model, Part, Traits } from "./model";
import { VIEWS } from "./views";

type Listener = (content: never, buffers: DataView[]) => void;

/** A question of a view, or of the explorer itself, which has no part. */
interface Question {
  kind: string;
  seq: number;
  asker: string;
  part?: number;
  [argument: string]: unknown;
}

/** What is known at the start; recording.py makes it. */
interface Told {
  about: About;
  latest: string;
  offline: string;
  parts: Record<string, Part>;
  tags: Record<string, string>;
  /** Rows by their IDs and by the places where they are. */
  names: Record<string, string>;
  /** The rows whose lives are here, in rising order. */
  rows: string[];
  index: Index;
  missing: Record<"title" | "rows" | "changes" | "life" | "version" | "whole" | "other", string>;
}

type Content = Record<string, unknown>;

/** A question that cannot be answered: the error pane says why. */
class Unanswered extends Error {}

type Choice = { change: string | null; column: string | null };

const ALL: Choice = { change: null, column: null };

class RecordedModel implements Model {
  private readonly told: Told;
  private readonly answers: ReturnType<typeof keptAnswers>;
  private readonly history: Kept;
  private readonly versions: ReturnType<typeof unpackHistory>;
  private readonly listeners = new Map<string, Set<Listener>>();
  private readonly grids: Record<string, ReturnType<typeof keptRows>>;
  private traits: Partial<Traits>;
  private state: State;
  private trail: { view: string; state: State }[] = [];
  private at = -1;
  private comparison: Content = {};

  constructor(told: Told, answers: ReturnType<typeof keptAnswers>, history: Kept) {
    this.told = told;
    this.answers = answers;
    this.history = history;
    this.versions = unpackHistory({ ...history.content, buffers: history.buffers } as unknown as HistoryContent);
    const { latest, offline } = told;
    this.state = { version: latest, compared_version: null, fragment_id: null, row_id: null, filter: "" };
    this.traits = {
      shows: "explorer",
      shared: { ...this.state, revision: 0 },
      label: "",
      opens: Object.keys(told.parts),
      live: { is_on: false, wait: 0, news: "", latest, note: "" },
      parts: {},
      offline,
    };
    const grid = (name: string) => keptRows((kind, content) => this.tellNews(name, kind, content), told.missing.whole);
    this.grids = { time_travel: grid("time_travel"), changes: grid("changes"), row: grid("row") };
    this.open("overview", {});
  }

  get<Name extends keyof Traits>(name: Name): Traits[Name] {
    return this.traits[name] as Traits[Name];
  }

  on(event: string, listener: Listener) {
    this.listeners.set(event, (this.listeners.get(event) ?? new Set()).add(listener));
  }

  off(event: string, listener: Listener) {
    this.listeners.get(event)?.delete(listener);
  }

  private tell(event: string, content?: unknown, buffers: DataView[] = []) {
    for (const listener of [...(this.listeners.get(event) ?? [])]) listener(content as never, buffers);
  }

  private set(changed: Partial<Traits>) {
    this.traits = { ...this.traits, ...changed };
    for (const name of Object.keys(changed)) this.tell(`change:${name}`);
  }

  private tellNews(view: string, kind: string, content: object) {
    this.tell("msg:custom", { what: "news", kind, content, part: this.told.parts[view].number });
  }

  async send(content: unknown) {
    const question = content as Question;
    const { kind, seq, asker, part } = question;
    const about = { kind, seq, asker, part };
    const view = Object.keys(this.told.parts).find((name) => this.told.parts[name].number === part);
    try {
      const kept = await this.answer(view, question);
      if (kept.content.not_answered) throw new Unanswered((kept.content.not_answered as Failure).message);
      this.tell("msg:custom", { what: "reply", ...about, content: kept.content }, kept.buffers);
    } catch (error) {
      const isOurs = error instanceof Unanswered;
      const failure = {
        title: isOurs ? this.told.missing.title : "The page cannot be read",
        message: (error as Error).message,
      };
      this.tell("msg:custom", { what: "error", ...about, content: failure });
    }
  }

  /** What Python would answer. */
  private async answer(view: string | undefined, question: Question): Promise<Kept> {
    const asked = question.kind;
    if (asked === "state") return plain(this.change(question.changes as Changes));
    if (asked === "go") {
      this.open(question.view as string, question.changes as Changes);
      return plain({});
    }
    if (asked === "history") return this.withHistory(view === "changes" ? await this.known("changes") : plain({}));
    if (view && this.grids[view]) {
      const rows = this.ofGrid(view, question);
      if (rows) return plain(rows);
    }
    if (asked === "words") return this.known("words", question.first as string, question.last as string);
    switch (`${view ?? "explorer"} ${asked}`) {
      case "explorer about":
        return plain(this.told.about);
      case "explorer step":
        this.goBy(question.by as number);
        return plain({});
      case "overview story":
        return this.withHistory(await this.known("story"));
      case "overview sizes":
      case "overview advice":
      case "overview disk":
      case "overview plans":
        return this.known(asked);
      case "log about":
        return this.known("log about");
      case "log log":
        return this.known("log");
      case "time_travel details":
        return this.known("details", question.version as string);
      case "time_travel show_version":
        return plain(await this.showVersion(question.version as string));
      case "time_travel choose_row":
        return plain(this.chooseRow("time_travel", question.row as number));
      case "time_travel find":
      case "changes find":
        return plain(this.findVersion(question.text as string, asked === "find" && question.name === "begin"));
      case "changes comparison":
        return plain(await this.compare());
      case "changes narrow":
        await this.compare({ change: question.change as string | null, column: question.column as string | null });
        return plain({});
      case "changes values":
        return this.known("values", ...this.range());
      case "row open":
        return this.known("open");
      case "row row":
        return plain(await this.lifeOf(this.state.row_id));
      case "row values":
        return plain(await this.valuesOf(this.state.row_id));
      case "row find":
        return plain(this.findRow(question.text as string));
      case "row step":
        return plain(this.stepRow(question.direction as number));
    }
    throw new Unanswered(this.told.missing.other);
  }

  private async known(...parts: string[]): Promise<Kept> {
    const kept = await this.answers.get(...parts);
    if (!kept) throw new Unanswered(this.told.missing.other);
    return kept;
  }

  /** An answer to which the history belongs, which is kept once. */
  private withHistory({ content, buffers }: Kept): Kept {
    if (buffers.length) return { content, buffers };
    return { content: { ...this.history.content, ...content }, buffers: this.history.buffers };
  }

  // --- what is chosen, and the views

  private change(changes: Changes) {
    const before = this.state;
    this.state = { ...before, ...changes };
    if (this.traits.place?.view === "changes" && this.state.compared_version === null)
      this.state.compared_version = this.before(this.state.version ?? this.told.latest);
    const revision = this.get("shared").revision + 1;
    this.set({ shared: { ...this.state, revision } });
    const isOther = before.version !== this.state.version || before.compared_version !== this.state.compared_version;
    if (isOther && this.get("parts").changes) this.compare();
    if (this.trail[this.at]) this.trail[this.at].state = this.state;
    return { revision };
  }

  private open(view: string, changes: Changes, isBack = false) {
    if (!this.get("parts")[view]) {
      this.set({ parts: { ...this.get("parts"), [view]: this.told.parts[view] } });
    }
    const isNew = !isBack && this.trail[this.at]?.view !== view;
    if (isNew) {
      this.trail.splice(this.at + 1);
      this.at = this.trail.push({ view, state: this.state }) - 1;
    }
    const place = { view, can_go_back: this.at > 0, can_go_forward: this.at < this.trail.length - 1 };
    this.traits.place = place;
    this.change(changes);
    this.tell("change:place");
  }

  private goBy(by: number) {
    const there = this.trail[this.at + by];
    if (!there) return;
    this.at += by;
    this.open(there.view, there.state, true);
  }

  // --- versions

  /** The version that a version is compared with: the one kept before, or the empty table. */
  private before(version: string) {
    const position = this.versions.positionOf(version) ?? this.versions.count;
    if (position > 0) return String(this.versions.versions[position - 1]);
    return version === "1" ? "0" : version;
  }

  private findVersion(text: string, isBegin: boolean) {
    const typed = text.trim();
    const number = /^(\d+)$/.exec(typed)?.[1];
    const version = Object.hasOwn(this.told.tags, typed) ? this.told.tags[typed] : number && String(BigInt(number));
    const isKept = version && (this.versions.positionOf(version) !== undefined || (isBegin && version === "0"));
    return isKept ? { version } : { problem: this.told.missing.version };
  }

  private async showVersion(version: string) {
    const kept = await this.answers.get("rows", version);
    const rows = kept?.content as (KeptPage & { problem?: string; has_row_ids?: boolean }) | undefined;
    if (!rows) return { problem: this.told.missing.rows };
    const problem = rows.problem ?? rows.not_answered?.message;
    if (!problem) this.grids.time_travel.show(rows);
    return { problem, has_row_ids: rows.has_row_ids };
  }

  // --- changes

  private range(): [string, string] {
    const { latest } = this.told;
    const both: [string, string] = [this.state.compared_version ?? latest, this.state.version ?? latest];
    return BigInt(both[0]) <= BigInt(both[1]) ? both : [both[1], both[0]];
  }

  /** What Python found between two versions; the grid has the rows that the choice leaves. */
  private async compare(choice = ALL) {
    const [begin, end] = this.range();
    const isNow = () => {
      const now = this.range();
      return now[0] === begin && now[1] === end;
    };
    const found = await this.answers.get("compared", begin, end);
    const rows = found && (await this.answers.get("changed", begin, end, choice.change, choice.column));
    if (!isNow()) return this.comparison;
    const { title, changes, rows: noRows } = this.told.missing;
    const nothing = { begin, end, key: [], classes: null, beside: [], problem: { title, message: changes } };
    this.comparison = { ...(found?.content ?? nothing), ...choice };
    this.tellNews("changes", "compared", this.comparison);
    const isMissing = found && !rows && !found.content.problem;
    const missing = isMissing ? { not_answered: { title, message: noRows } } : null;
    this.grids.changes.show((rows?.content as KeptPage | undefined) ?? missing);
    return this.comparison;
  }

  // --- rows

  private async lifeOf(row: string | null) {
    if (row === null) return { row_id: null };
    const kept = await this.answers.get("row", row);
    return (kept?.content.life as Content) ?? { row_id: row, num_events: 0, problem: this.told.missing.life };
  }

  private async valuesOf(row: string | null) {
    const kept = row === null ? null : await this.answers.get("row", row);
    this.grids.row.show((kept?.content as KeptPage | undefined) ?? null);
    return (kept?.content.values as Content) ?? { values: [] };
  }

  private findRow(text: string) {
    const name = text
      .trim()
      .replace(/^(row|addr|address)\s+/i, "")
      .replace(/\s*:\s*/, ":");
    if (!Object.hasOwn(this.told.names, name)) return { problem: this.told.missing.life };
    this.change({ row_id: this.told.names[name] });
    return { row_id: this.state.row_id };
  }

  private stepRow(direction: number) {
    const { rows } = this.told;
    const now = this.state.row_id;
    const isBeyond = (row: string) =>
      now === null || (direction > 0 ? BigInt(row) > BigInt(now) : BigInt(row) < BigInt(now));
    const found = direction > 0 ? rows.find(isBeyond) : rows.findLast(isBeyond);
    if (found === undefined) return { problem: this.told.missing.life };
    this.change({ row_id: found });
    return {};
  }

  private chooseRow(view: string, row: number) {
    const id = this.grids[view].idOf(row);
    if (id !== null) this.change({ row_id: id });
    else if (view === "time_travel") throw new Unanswered(this.told.missing.life);
    return {};
  }

  /** What every grid asks. */
  private ofGrid(view: string, question: Question): object | undefined {
    const grid = this.grids[view];
    switch (question.kind) {
      case "rows":
        return grid.describe();
      case "page":
        return grid.page();
      case "heads":
        return grid.heads();
      case "detail":
        return grid.detail(question.row as number, question.column as number) ?? undefined;
      case "select":
        grid.select(question.row as number, question.how as string);
        return view === "changes" && question.how === "only" ? this.chooseRow(view, question.row as number) : {};
      default:
        return undefined;
    }
  }
}

function plain(content: object): Kept {
  return { content: content as Content, buffers: [] };
}

/** Show the explorer that is kept in a page. */
export async function openRecorded(root: HTMLElement) {
  const told: Told = JSON.parse(document.getElementById("lx-recording")?.textContent ?? "{}");
  const shelves = Array.from(document.querySelectorAll("script.lx-shelf"), ({ textContent }) => textContent ?? "");
  const answers = keptAnswers(told.index, shelves);
  const history = (await answers.get("history")) as Kept;
  const place = node("div");
  root.append(place);
  const model = new RecordedModel(told, answers, history);
  VIEWS[model.get("shows")]({ model, el: place });
}
