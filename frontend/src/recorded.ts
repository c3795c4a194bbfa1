// The explorer in a page without Python: its model answers from what recording.py kept in the page.

import "./page.css";
import { node } from "./elements";
import { historyOf } from "./history";
import { keptAnswers } from "./kept_answers";
import { keptRows } from "./kept_rows";
import { LocalModel } from "./local_model";
import type {
  Changes,
  Comparison,
  FollowedRow,
  Found,
  KeptRows,
  Life,
  NotAnswered,
  Question,
  RecordedPage,
  RowValues,
  ShownVersion,
  State,
  VersionData,
  ViewMessage,
} from "./messages";
import { VIEWS } from "./views";

type Answers = ReturnType<typeof keptAnswers>;

/** A question that cannot be answered: the error pane says why. */
class Unanswered extends Error {}

type Choice = { change: string | null; column: string | null };

const ALL: Choice = { change: null, column: null };

const NOTHING: Omit<Comparison, "begin" | "end"> = {
  ...ALL,
  key: [],
  beside: [],
  problem: null,
  classes: null,
  unchanged: null,
  doubts: "",
  lost: "",
  evidence: "",
  needs_key: false,
  left_out: null,
  cells: null,
};

class RecordedModel extends LocalModel {
  private readonly told: RecordedPage;
  private readonly answers: Answers;
  private readonly history: VersionData;
  private readonly versions: ReturnType<typeof historyOf>;
  private readonly grids: Record<string, ReturnType<typeof keptRows>>;
  private state: State;
  private trail: { view: string; state: State }[] = [];
  private at = -1;
  private comparison: Comparison | null = null;

  constructor(told: RecordedPage, answers: Answers, history: VersionData) {
    super();
    this.told = told;
    this.answers = answers;
    this.history = history;
    this.versions = historyOf(history);
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

  private tellNews(view: string, kind: string, content: object) {
    this.tell("msg:custom", { what: "news", kind, content, part: [this.told.parts[view].number] });
  }

  async send({ kind, seq, asker, part, arguments: asked = {} }: Question) {
    const answer = (what: ViewMessage["what"], content: object) =>
      this.tell("msg:custom", { what, kind, seq, asker, part, content });
    const view = Object.keys(this.told.parts).find((name) => this.told.parts[name].number === part?.[0]);
    try {
      const content = await this.answer(view, kind, asked);
      if ("not_answered" in content) throw new Unanswered((content as NotAnswered).not_answered.message);
      answer("reply", content);
    } catch (error) {
      const title = error instanceof Unanswered ? this.told.missing.title : "The page cannot be read";
      answer("error", { title, message: (error as Error).message });
    }
  }

  /** What Python would answer. */
  private async answer(view: string | undefined, kind: string, asked: Record<string, unknown>): Promise<object> {
    if (kind === "state") return this.change(asked.changes as Changes);
    if (kind === "go") {
      this.open(asked.view as string, asked.changes as Changes);
      return {};
    }
    if (kind === "history") return this.withHistory(view === "changes" ? await this.known("changes") : {});
    if (view && this.grids[view]) {
      const rows = this.ofGrid(view, kind, asked);
      if (rows) return rows;
    }
    if (kind === "words") return this.known("words", asked.first as string, asked.last as string);
    switch (`${view ?? "explorer"} ${kind}`) {
      case "explorer about":
        return this.told.about;
      case "explorer step":
        this.goBy(asked.by as number);
        return {};
      case "overview story":
        return this.withHistory(await this.known("story"));
      case "overview lately":
      case "overview first_rows":
      case "overview sizes":
      case "overview advice":
      case "overview disk":
      case "overview plans":
        return this.known(kind);
      case "log about":
        return this.known("log about");
      case "log log":
        return this.known("log");
      case "time_travel details":
        return this.known("details", asked.version as string);
      case "time_travel show_version":
        return await this.showVersion(asked.version as string);
      case "time_travel choose_row":
        return this.chooseRow("time_travel", asked.row as number);
      case "time_travel find":
      case "changes find":
        return this.findVersion(asked.text as string, asked.name === "begin");
      case "changes comparison":
        return await this.compare();
      case "changes narrow":
        await this.compare({ change: asked.change as string | null, column: asked.column as string | null });
        return {};
      case "changes values":
        return this.known("values", ...this.range());
      case "row open":
        return this.known("open");
      case "row row":
        return await this.lifeOf(this.state.row_id);
      case "row values":
        return await this.valuesOf(this.state.row_id);
      case "row find":
        return this.findRow(asked.text as string);
      case "row step":
        return this.stepRow(asked.direction as number);
    }
    throw new Unanswered(this.told.missing.other);
  }

  private async known(...parts: string[]): Promise<object> {
    const kept = await this.answers.get(...parts);
    if (!kept) throw new Unanswered(this.told.missing.other);
    return kept;
  }

  /** An answer to which the history belongs, which is kept once. */
  private withHistory(content: object) {
    return { ...this.history, ...content };
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

  private findVersion(text: string, isBegin: boolean): Found {
    const typed = text.trim();
    const number = /^(\d+)$/.exec(typed)?.[1];
    const version = Object.hasOwn(this.told.tags, typed) ? this.told.tags[typed] : number && String(BigInt(number));
    const isKept = version && (this.versions.positionOf(version) !== undefined || (isBegin && version === "0"));
    return isKept ? { version } : { problem: this.told.missing.version };
  }

  private async showVersion(version: string): Promise<ShownVersion> {
    const rows = await this.answers.get<KeptRows>("rows", version);
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
    const found = await this.answers.get<Comparison>("compared", begin, end);
    const rows = found && (await this.answers.get<KeptRows>("changed", begin, end, choice.change, choice.column));
    if (!isNow() && this.comparison) return this.comparison;
    const { title, changes, rows: noRows } = this.told.missing;
    const nothing = { ...NOTHING, begin, end, problem: { title, message: changes } };
    this.comparison = { ...(found ?? nothing), ...choice };
    this.tellNews("changes", "compared", this.comparison);
    const isMissing = found && !rows && !found.problem;
    const missing = isMissing ? { not_answered: { title, message: noRows } } : null;
    this.grids.changes.show(rows ?? missing);
    return this.comparison;
  }

  // --- rows

  private async lifeOf(row: string | null): Promise<FollowedRow | NotAnswered> {
    const nothing = { row_id: row, num_events: 0, events: [], problem: null };
    if (row === null) return nothing;
    const kept = await this.answers.get<Life>("row", row);
    return kept?.life ?? { ...nothing, problem: this.told.missing.life };
  }

  private async valuesOf(row: string | null): Promise<RowValues | NotAnswered> {
    const kept = row === null ? null : await this.answers.get<Life>("row", row);
    this.grids.row.show(kept);
    return kept?.values ?? { values: [], problem: null };
  }

  private findRow(text: string): Found {
    const name = text
      .trim()
      .replace(/^(row|addr|address)\s+/i, "")
      .replace(/\s*:\s*/, ":");
    if (!Object.hasOwn(this.told.names, name)) return { problem: this.told.missing.life };
    this.change({ row_id: this.told.names[name] });
    return { row_id: this.state.row_id };
  }

  private stepRow(direction: number): Found {
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
  private ofGrid(view: string, kind: string, asked: Record<string, unknown>): object | null | undefined {
    const grid = this.grids[view];
    switch (kind) {
      case "rows":
        return grid.describe();
      case "page":
        return grid.page();
      case "heads":
        return grid.heads();
      case "detail":
        return grid.detail(asked.row as number, asked.column as number) ?? undefined;
      case "select":
        grid.select(asked.row as number, asked.how as string);
        return view === "changes" && asked.how === "only" ? this.chooseRow(view, asked.row as number) : {};
      default:
        return undefined;
    }
  }
}

/** Show the explorer that is kept in a page. */
export async function openRecorded(root: HTMLElement) {
  const told: RecordedPage = JSON.parse(document.getElementById("lx-recording")?.textContent ?? "{}");
  const shelves = Array.from(document.querySelectorAll("script.lx-shelf"), ({ textContent }) => textContent ?? "");
  const answers = keptAnswers(told.index, shelves);
  const history = (await answers.get<VersionData>("history")) as VersionData;
  const place = node("div");
  root.append(place);
  const model = new RecordedModel(told, answers, history);
  VIEWS[model.get("shows")]({ model, el: place });
}
