// The view: what the table is, what changed lately, and whether it is healthy. What the latest version tells is
// shown while all versions are read; what takes longer to find comes after them, each part when it is known.

import "./overview.css";
import { signal } from "@preact/signals";
import { Panel } from "./cards";
import { DiskPanel } from "./disk_panel";
import type {
  Advice,
  AnswerSection,
  DiskUsage,
  Lately,
  Latest,
  OverviewQuestions,
  Plans,
  Problem,
  Sizes,
} from "./messages";
import { GrowthPanel } from "./overview_growth";
import {
  AdvicePanel,
  FirstRows,
  factCards,
  LargestCommits,
  LatelyPanel,
  latestSentence,
  OperationsByKind,
  storySentences,
} from "./overview_panels";
import { LeadTo, Refresh, view } from "./reactive";
import { cut, visible } from "./text";
import { versionsOf } from "./versions";

const QUICK = 1_000; // ms

export const render = view<OverviewQuestions>("lx-overview", ({ link }) => {
  const latest = signal<Latest | null>(null);
  const { history, position, moveTo, ...versions } = versionsOf(link, (args) => link.ask("story", args));
  const lately = signal<Lately | Problem | null>(null);
  const rows = signal<AnswerSection | Problem | null>(null);
  const sizes = signal<Sizes | null>(null);
  const usage = signal<DiskUsage | Problem | null>(null);
  const plans = signal<Plans["plans"] | null>(null);
  const advice = signal<Advice | null>(null);
  const isLooking = signal(true);
  let took = 0; // ms, to find what is on disk and what is wrong

  /** Tell the story anew; `isStill`: what takes long to find is told when somebody asks for it. */
  async function load(refresh: boolean, isStill = false) {
    const before = history.value;
    if (!before && !link.offline) link.ask("latest").then((told) => (latest.value = told));
    if (!before && !link.offline) askLately();
    const content = await versions.ask(refresh);
    if (before) sizes.value = await link.ask("sizes"); // until then all stays as it is
    const newest = versions.take(content, refresh);
    if (before || link.offline) askLately();
    const begun = performance.now();
    if (newest.count) link.ask("first_rows").then((told) => (rows.value = told));
    const looksCloser = !isStill || took < QUICK;
    if (looksCloser) {
      isLooking.value ||= !isStill;
      advice.value = await link.ask("advice");
      isLooking.value = false;
    }
    if (!before && newest.count) sizes.value = await link.ask("sizes");
    link.root.dataset.loaded = String(newest.count);
    if (looksCloser && newest.count) await askDisk();
    if (looksCloser) took = performance.now() - begun;
  }

  function askLately() {
    link.ask("lately").then((told) => (lately.value = told));
  }

  async function askDisk() {
    usage.value = await link.ask("disk");
    plans.value = (await link.ask("plans")).plans;
  }

  link.on("versions", () => load(false, true));
  load(false);

  return () => {
    const [every, now] = [history.value, position.value];
    const { name = "Overview", branch = null } = every ?? latest.value ?? {};
    const facts = every ? every.facts : latest.value?.facts;
    const shown = every?.versions[now];
    const choose = (version: string) => link.setState({ version });
    const health = <AdvicePanel link={link} advice={advice.value} isLooking={isLooking.value} />;
    return (
      <>
        {!link.canOpen("log") && ( // the title of an explorer says it
          <h3>
            {visible(name)}
            {branch !== null && <span class="lx-quiet"> branch {cut(branch, 40)}</span>}
          </h3>
        )}
        <div class="lx-overview-head">
          <p class="lx-story">
            {facts && (every?.count ? storySentences(every, sizes.value, moveTo) : latestSentence(facts, branch))}
          </p>
          <Refresh link={link} onClick={() => load(true)} />
        </div>
        {every?.count === 0 && <p class="lx-note">No version of the table can be read; see below what is wrong.</p>}
        {facts && every?.count !== 0 && (
          <div class="lx-story-body">
            <GrowthPanel
              link={link}
              history={every}
              position={now}
              numListed={latest.value?.num_listed ?? null}
              onMove={moveTo}
            />
            <div class="lx-columns">
              <LatelyPanel link={link} lately={lately.value} chosen={String(shown)} choose={choose} />
              {health}
            </div>
            <FirstRows link={link} rows={rows.value} version={facts.latest_version} />
            <div class="lx-cards">{factCards(facts, every)}</div>
            <div class="lx-columns">
              <LargestCommits history={every} sizes={sizes.value} chosen={String(shown)} choose={moveTo} />
              <OperationsByKind history={every} chosen={now} choose={moveTo} />
            </div>
            <Panel
              title="On disk"
              beside={
                <LeadTo link={link} view="disk">
                  Open Disk
                </LeadTo>
              }
            >
              <DiskPanel
                root={link.root}
                usage={usage.value}
                plans={plans.value}
                history={every}
                version={shown}
                onMove={moveTo}
                isWhole={false}
              />
            </Panel>
          </div>
        )}
        {!(facts && every?.count !== 0) && health}
      </>
    );
  };
});
