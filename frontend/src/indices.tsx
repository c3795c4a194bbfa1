// The view: the indices of the chosen version, and what one of them covered in all versions.

import "./indices.css";
import { batch, signal } from "@preact/signals";
import { AdviceList, noAdvice } from "./advice";
import { COVERAGE_WORDS, type Lives, livesOf } from "./index_lives";
import { IndexCards, reusePanel } from "./index_panels";
import { indexPicture } from "./index_picture";
import { kindLegend, legendEntry } from "./legend";
import type { IndicesQuestions, VersionIndices } from "./messages";
import { Held, placeClass, view } from "./reactive";
import { count, cut, plural } from "./text";
import { VersionHead } from "./version_head";
import { describeVersion } from "./version_words";
import { versionsOf } from "./versions";

const REST = 100; // milliseconds

function noFacts(problem: string): VersionIndices {
  const advice = noAdvice(`What the indices of this version cover is unknown: ${problem}`);
  return { advice, indices: [], num_indices: 0, reuse: [], num_reuse_entries: 0, reuse_bytes: null };
}

export const render = view<IndicesQuestions>("lx-sheet lx-indices", ({ link, onClose, keep, follow, show, awaits }) => {
  const versions = versionsOf(link, (args) => link.ask("history", args));
  const { history, state, position } = versions;
  const facts = signal<VersionIndices | null>(null);
  const isMoving = signal(false); // what is shown is of another version
  const index = signal<string | null>(null);
  const lives = signal<Lives | null>(null);
  let resting = 0;

  const picture = keep(
    indexPicture(link.root, {
      onMove: (p, id) => versions.moveTo(p, id === undefined ? {} : { fragment_id: id }),
      describeVersion: (p) => history.value && describeVersion(history.value, p),
    }),
  );
  show(history, picture.setHistory);
  follow(() => {
    if (history.value && lives.value) picture.setLives(lives.value);
  });
  follow(() => {
    void lives.value; // what an index covered may be unknown: the versions are drawn all the same
    if (history.value) picture.show(position.value, state.value.fragment_id);
  });

  async function load(isRefresh: boolean) {
    const newest = await versions.load(isRefresh);
    index.value = newest.index;
    draw();
  }

  async function draw() {
    if (index.value === null) return;
    lives.value = livesOf(await link.ask("lives", { index: index.value }));
    link.root.dataset.index = index.value;
  }

  function choose(name: string) {
    if (name === index.value) return;
    index.value = name;
    link.ask("choose", { index: name });
    draw();
  }

  // Ask for what the indices of the chosen version are, once the slider rests.
  follow(() => {
    const version = history.value?.versions[position.value];
    clearTimeout(resting);
    isMoving.value = true;
    if (version !== undefined) resting = window.setTimeout(() => askFacts(String(version)), REST);
  });
  onClose(() => clearTimeout(resting));

  async function askFacts(version: string) {
    const found = await link.ask("version", { version });
    if (version !== String(history.value?.versions[position.value])) return;
    batch(() => {
      facts.value = "problem" in found ? noFacts(found.problem) : found;
      isMoving.value = false;
    });
    link.root.dataset.shown = version;
  }

  link.on("index", ({ name }) => {
    if (facts.value) choose(name);
    else index.value = name;
  });
  awaits(history);
  load(false);

  return () => {
    const [every, now, found] = [history.value, position.value, facts.value];
    const ofVersion = (style: string) => placeClass(style, found !== null, isMoving.value);
    return (
      <>
        <VersionHead
          link={link}
          versions={versions}
          onRefresh={() => load(true)}
          note={every?.problem ? `What indices covered over versions is unknown: ${cut(every.problem, 500)}` : ""}
        />
        <div class={ofVersion("lx-of-version")}>
          <AdviceList advice={found?.advice ?? null} link={link} />
          <IndexCards facts={found?.indices ?? []} chosen={index.value} onChoose={choose} />
          {found && found.num_indices > found.indices.length && (
            <p class="lx-quiet">
              {count(found.indices.length)} of {plural(found.num_indices, "index", "indices")}
            </p>
          )}
        </div>
        <section hidden={index.value === null}>
          <h4>
            What <code>{cut(index.value ?? "", 80)}</code> covers, by fragment over versions
          </h4>
          <Held element={picture.element} />
          <div class={placeClass("lx-legend", lives.value !== null)}>
            <span class="lx-quiet">{every && now >= 0 && `version ${count(every.versions[now])}:`}</span>
            {lives.value &&
              now >= 0 &&
              picture
                .countsAt(now)
                .map(([name, number]) =>
                  legendEntry(
                    <i class={`lx-swatch lx-coverage-${name}`} />,
                    `${COVERAGE_WORDS[name]}: ${plural(number, "fragment")}`,
                  ),
                )}
            {lives.value && <span class="lx-quiet">{picture.note()}</span>}
          </div>
          <div class="lx-legend">
            <span class="lx-quiet">commits:</span>
            {every && kindLegend(every)}
          </div>
        </section>
        <section class={ofVersion("lx-reuse-panel")} hidden={!found?.reuse.length}>
          {found && reusePanel(found)}
        </section>
      </>
    );
  };
});
