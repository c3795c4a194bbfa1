// The view: the story of the table. What the latest version tells is shown while all versions are
// read; what made it big, what is on disk and what to do come after them, each when it is known.

import "./overview.css";
import { signal } from "@preact/signals";
import { Panel } from "./cards";
import { DiskPanel } from "./disk_panel";
import type { Advice, DiskUsage, Latest, OverviewQuestions, Plans, Problem, Sizes } from "./messages";
import { GrowthPanel } from "./overview_growth";
import {
  AdvicePanel,
  factCards,
  LargestCommits,
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
    const content = await versions.ask(refresh);
    if (before) sizes.value = await link.ask("sizes"); // until then all stays as it is
    const newest = versions.take(content, refresh);
    const begun = performance.now();
    const looksCloser = !isStill || took < QUICK;
    const looking = looksCloser && newest.count ? askDisk() : null; // it stands first
    if (!before && newest.count) sizes.value = await link.ask("sizes");
    link.root.dataset.loaded = String(newest.count);
    if (!looksCloser) return;
    isLooking.value ||= !isStill;
    await looking;
    advice.value = await link.ask("advice");
    isLooking.value = false;
    took = performance.now() - begun;
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
    return (
      <>
        <div class="lx-overview-head">
          <h3>
            {visible(name)}
            {branch !== null && <span class="lx-quiet"> branch {cut(branch, 40)}</span>}
          </h3>
          <Refresh link={link} onClick={() => load(true)} />
        </div>
        {every?.count === 0 && <p class="lx-note">No version of the table can be read; see below what is wrong.</p>}
        {facts && every?.count !== 0 && (
          <div class="lx-story-body">
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
            <p class="lx-story">{every ? storySentences(every, sizes.value, moveTo) : latestSentence(facts, branch)}</p>
            <div class="lx-cards">{factCards(facts, every)}</div>
            <GrowthPanel
              link={link}
              history={every}
              position={now}
              numListed={latest.value?.num_listed ?? null}
              onMove={moveTo}
            />
            <div class="lx-columns">
              <LargestCommits history={every} sizes={sizes.value} chosen={String(shown)} choose={moveTo} />
              <OperationsByKind history={every} chosen={now} choose={moveTo} />
            </div>
          </div>
        )}
        <AdvicePanel link={link} advice={advice.value} isLooking={isLooking.value} />
      </>
    );
  };
});
