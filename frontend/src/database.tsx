// The explorer of a database: its tables, their commits and what they take on disk; or the explorer of one of
// them, in the same place.

import "./database.css";
import { signal } from "@preact/signals";
import { render as draw } from "preact";
import { followAddress } from "./address";
import { toClipboard } from "./clipboard";
import { CodePane } from "./code_pane";
import { type Age, DatabaseDisk } from "./database_disk";
import { DatabaseLanes } from "./database_log";
import { TableList } from "./database_tables";
import { TabList } from "./explorer_tabs";
import { connect } from "./link";
import { following } from "./live";
import type {
  Answer,
  DatabaseAbout,
  DatabaseExplorerQuestions,
  DatabaseLog,
  DatabaseTables,
  DatabaseUsage,
  MomentShown,
  SearchAnswer,
} from "./messages";
import type { View } from "./model";
import { viewsOf, withoutParts } from "./parts";
import { CopyButton, CopyLink, Note, needing, set } from "./reactive";
import { Answer as FoundAnswer } from "./search_answer";
import { cut, plural, visible } from "./text";

export function render({ model, el }: View) {
  const link = connect<DatabaseExplorerQuestions>(withoutParts(model), el);
  const views = viewsOf(model, el);
  const live = following(link, model, () => {});
  const address = followAddress(link, model);
  const about = signal<DatabaseAbout | null>(null);
  const place = signal(model.get("database_place"));
  const tables = signal<DatabaseTables | null>(null);
  const log = signal<DatabaseLog | null>(null);
  const usage = signal<DatabaseUsage | null>(null);
  const cleanup = signal<Answer | null>(null);
  const age = signal<Age>("14");
  const moment = signal<MomentShown | null>(null);
  const found = signal<SearchAnswer | null>(null);
  const problem = signal("");
  const text = signal("");
  const code = signal<{ code: string; isCopied: boolean } | null>(null);
  const known = new Set<string>(); // the views whose answers are here, or on their way

  async function load(view: string) {
    if (known.has(view) || link.offline) return;
    known.add(view);
    if (view === "log") log.value = await link.ask("log");
    else if (view === "disk") {
      usage.value = await link.ask("usage");
      askCleanup();
    } else tables.value = await link.ask("tables");
    link.root.dataset.loaded = [...known].join(" ");
  }

  async function askCleanup() {
    cleanup.value = null;
    cleanup.value = await link.ask("cleanup", { days: Number(age.value) });
  }

  function follow() {
    place.value = model.get("database_place");
    const { view, table } = place.value;
    code.value = null;
    views.show(table === null ? "" : "table");
    link.root.dataset.view = view;
    link.root.dataset.table = table ?? "";
    if (table === null) load(view);
  }

  function openTable(name: string, version: string | null = null, branch: string | null = null) {
    link.ask("open_table", { name, version, branch }).then(follow);
  }

  const show = (view: string) => link.ask("show", { view }).then(follow);

  async function search() {
    if (!text.value.trim()) return;
    const answer = await link.ask("search", { text: text.value });
    problem.value = cut(answer.problem ?? "", 1000);
    found.value = answer.answer ?? null;
    moment.value = answer.moment ?? null;
    if (moment.value && place.value.view !== "tables") show("tables");
  }

  async function copyCode() {
    const answer = await link.ask("code");
    code.value = { code: answer.code, isCopied: await toClipboard(answer.code) };
  }

  function Search() {
    return (
      <form
        class="lx-explorer-find"
        onSubmit={(event) => {
          event.preventDefault();
          search();
        }}
      >
        <input
          class="lx-input lx-explorer-search"
          type="search"
          spellcheck={false}
          autocomplete="off"
          maxLength={200}
          placeholder="yesterday 12:00, a tag, id = 42, a word"
          aria-label="Show all tables at a time or tag, or search all tables for a value"
          aria-invalid={problem.value !== ""}
          value={text}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
            problem.value = "";
          }}
          {...needing(link)}
        />
        <button class="lx-button" {...needing(link)}>
          Go
        </button>
      </form>
    );
  }

  function Moment() {
    return (
      moment.value && (
        <div class="lx-note lx-db-moment" role="status">
          <span>{cut(moment.value.sentence, 400)}</span>
          <CopyButton text={moment.value.code} title={`Copy:\n${visible(moment.value.code)}`}>
            Copy as code
          </CopyButton>
          <button class="lx-button lx-small" onClick={() => set(moment, null)}>
            Back to now
          </button>
        </div>
      )
    );
  }

  function Body() {
    const names = about.value?.names ?? [];
    switch (place.value.view) {
      case "log":
        return <DatabaseLanes root={link.root} log={log.value} onOpen={openTable} />;
      case "disk":
        return (
          <DatabaseDisk usage={usage.value} cleanup={cleanup.value} age={age} onAge={askCleanup} onOpen={openTable} />
        );
      default:
        return <TableList names={names} tables={tables.value} moment={moment.value} onOpen={openTable} />;
    }
  }

  function Whole() {
    const { view, table } = place.value;
    const name = about.value?.name ?? "";
    if (table !== null)
      return (
        <div class="lx-db-back">
          <button class="lx-button" onClick={() => show(view)}>
            ‹ All tables
          </button>
          <span class="lx-quiet">of {cut(name, 80)}</span>
        </div>
      );
    return (
      <>
        <div class="lx-explorer-top">
          <div class="lx-explorer-title" title={visible(about.value?.uri ?? "")}>
            <strong>{cut(name, 60)}</strong>
            <span class="lx-quiet">{about.value && plural(about.value.names.length, "table")}</span>
          </div>
          <live.Switch />
          <Search />
        </div>
        <live.LiveNote />
        <Note>{problem.value}</Note>
        <div role="status">
          {found.value && (
            <FoundAnswer
              answer={found.value}
              onClose={() => set(found, null)}
              onAsk={() => {}}
              onMore={() => {}}
              onOpen={() => {}}
              canOpen={() => false}
            />
          )}
        </div>
        <div class="lx-db-bar">
          <TabList tabs={about.value?.tabs ?? []} shown={view} onOpen={show} />
          {address.copy && <CopyLink key={view} copy={address.copy} />}
          <button class="lx-button lx-small" title="Copy the lines of Python for what is shown" onClick={copyCode}>
            Copy as code
          </button>
        </div>
        {code.value && <CodePane {...code.value} onClose={() => set(code, null)} />}
        <Moment />
        <Body />
      </>
    );
  }

  link.root.classList.add("lx-explorer", "lx-db", "lx-unread");
  draw(<Whole />, link.root);
  link.on("versions", async () => {
    known.clear();
    about.value = await link.ask("about");
    load(place.value.view);
  });
  model.on("change:database_place", follow);
  model.on("change:parts", follow);
  link.ask("about").then((told) => {
    about.value = told;
    link.root.classList.remove("lx-unread");
    follow();
  });
  return () => {
    model.off("change:database_place", follow);
    model.off("change:parts", follow);
    draw(null, link.root);
    views.close();
    live.close();
    link.close();
  };
}
