// The view: what row IDs cost over versions, and how those of the chosen version are stored.

import "./segment_encodings.css";
import { batch, signal } from "@preact/signals";
import { AdviceList, noAdvice } from "./advice";
import { growthPicture } from "./growth_picture";
import { kindLegend, legendEntry } from "./legend";
import type {
  Advice,
  EncodingsData,
  EncodingsVersion,
  SegmentEncodingsQuestions as Questions,
  SegmentMode,
} from "./messages";
import { Held, placeClass, view } from "./reactive";
import { rowTable } from "./rows";
import type { ShownSegments } from "./segment_drawing";
import { FragmentChoice, ModeChoice, segmentLegend, statisticsTable } from "./segment_panels";
import { segmentRows } from "./segment_rows";
import { count, cut } from "./text";
import { sentenceList, VersionHead } from "./version_head";
import { describeVersion } from "./version_words";
import { versionsOf } from "./versions";

const REST = 100; // milliseconds

const NO_ROW_IDS =
  "This table has no stable row IDs: a row ID is the row's address, which takes no bytes and changes when the row moves. So there is nothing to encode. Stable row IDs are asked for when a table is made (enable_stable_row_ids=True in pylance).";

/** What is known of a version, with its segments as they are drawn; null of one with a problem. */
interface Shown {
  found: EncodingsVersion | null;
  picture: ShownSegments | null;
}

export const render = view<Questions>("lx-sheet lx-encodings", ({ link, onClose, keep, follow, show, awaits }) => {
  const versions = versionsOf(link, (args) => link.ask("history", args));
  const { history, state, position } = versions;
  const mode = signal<SegmentMode>("position");
  const shown = signal<Shown | null>(null);
  const advice = signal<Advice | null>(null);
  const growthProblem = signal("");
  const isMoving = signal(false); // what is shown is of another version
  let resting = 0;
  let asked = ""; // for what was asked last

  const growth = keep(
    growthPicture(link.root, {
      onMove: versions.moveTo,
      describeVersion: (p) => history.value && describeVersion(history.value, p),
    }),
  );
  const segments = keep(segmentRows(link.root, { onSelect: (id) => link.setState({ fragment_id: id }) }));
  const rows = rowTable(link, 10);
  show(history, growth.setHistory);
  follow(() => {
    if (history.value) growth.show(position.value, null);
  });

  async function load(isRefresh: boolean) {
    asked = "";
    await versions.load(isRefresh);
    const found = await link.ask("growth");
    growth.setGrowth("problem" in found ? null : found);
    growthProblem.value = "problem" in found ? cut(found.problem, 500) : "";
  }

  // Ask how the row IDs of the chosen version are stored, once the slider rests.
  follow(() => {
    const every = history.value;
    if (!every) return;
    const version = state.value.version ?? String(every.versions[every.count - 1]);
    const fragment = state.value.fragment_id;
    const wanted = JSON.stringify([version, fragment, mode.value]);
    if (wanted === asked) return;
    asked = wanted;
    isMoving.value = true;
    clearTimeout(resting);
    resting = window.setTimeout(() => askVersion(version, fragment), REST);
  });
  onClose(() => clearTimeout(resting));

  async function askVersion(version: string, id: string | null) {
    const mine = asked;
    const answer = await link.ask("version", { version, fragment: id, mode: mode.value });
    const colors = history.value?.colors ?? {};
    if (mine !== asked) return;
    const found = "problem" in answer ? null : answer;
    const picture = found && {
      segments: found.segments,
      one: found.one,
      id: found.one && id,
      mode: found.mode,
      colors,
      version,
    };
    growth.setAges(found?.ages ?? null);
    batch(() => {
      isMoving.value = false;
      shown.value = { found, picture };
      if ("problem" in answer) advice.value = noAdvice(`The row IDs of this version are unknown: ${answer.problem}`);
    });
    segments.show(picture); // once it has its place
    link.root.dataset.shown = `${version} ${id ?? ""} ${mode.value}`;
    if (!found) return;
    const told = await link.ask("advice", { version });
    if (mine === asked) advice.value = told;
  }

  function Drawing({ every }: { every: EncodingsData & NonNullable<typeof history.value> }) {
    return (
      <section>
        <h4>
          {growthProblem.value
            ? `The size of row IDs over versions is unknown: ${growthProblem.value}`
            : "Bytes per row ID, over versions; and when the rows of the chosen version were written"}
        </h4>
        <Held element={growth.element} />
        <div class="lx-legend">
          {legendEntry(<i class="lx-line-swatch" style={{ background: every.growth_color }} />, "now")}
          {legendEntry(<i class="lx-line-swatch lx-dashed" />, "at best")}
          {kindLegend(every)}
        </div>
      </section>
    );
  }

  awaits(history);
  load(false);

  return () => {
    const every = history.value;
    const { found, picture } = shown.value ?? {};
    const isThere = found && picture && found.segments.rows.length > 0;
    return (
      <>
        <VersionHead
          link={link}
          versions={versions}
          onRefresh={() => load(true)}
          note={every && !every.has_row_ids ? NO_ROW_IDS : ""}
        />
        {every?.has_row_ids && <Drawing every={every} />}
        <div
          class={placeClass("lx-of-version", shown.value !== null, isMoving.value)}
          hidden={every?.has_row_ids === false}
        >
          <AdviceList advice={advice.value} choose={link.setState} isOfVersion />
          {sentenceList(found?.words ?? [])}
          <div class="lx-toolbar">
            {isThere && (
              <>
                <FragmentChoice of={found} id={picture.id} onChoose={(id) => link.setState({ fragment_id: id })} />
                <ModeChoice mode={mode} />
              </>
            )}
          </div>
          <Held element={segments.element} />
          {isThere && (
            <>
              <div class="lx-legend">{segmentLegend(found, picture.colors)}</div>
              {statisticsTable(
                found.statistics,
                picture.colors,
                picture.id ? `fragment ${count(picture.id)}` : `version ${count(picture.version)}`,
              )}
            </>
          )}
          <h4>Segments</h4>
          <Held element={rows.element} />
        </div>
      </>
    );
  };
});
