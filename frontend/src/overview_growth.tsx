// Growth over versions: how many rows or fragments each had, or how much data, and the chosen one in words.

import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { Choices, Panel } from "./cards";
import { versionBefore } from "./changes_words";
import { historyStrip } from "./history_strip";
import { kindLegend, legendEntry, operationChip } from "./legend";
import type { Link } from "./link";
import type { OverviewHistory } from "./overview_panels";
import { Held, LeadTo, useNewest, usePicture } from "./reactive";
import { absoluteTime, bytes, count, plural, relativeTime, visible } from "./text";
import { describeVersion } from "./version_words";

type Measure = "num_rows" | "data_bytes" | "num_fragments";

const FORMATS: Record<Measure, (value: number) => string> = {
  num_rows: (value) => plural(value, "row"),
  data_bytes: bytes,
  num_fragments: (value) => plural(value, "fragment"),
};

const CHART = 110; // px: here the picture of growth is the main thing

interface GrowthProps {
  link: Link;
  history: OverviewHistory | null;
  /** The chosen version, -1 where it is none of those. */
  position: number;
  /** How many versions are being read. */
  numListed: number | null;
  onMove: (position: number) => void;
}

export function GrowthPanel({ link, history, position, numListed, onMove }: GrowthProps) {
  const measure = useSignal<Measure>("num_rows");
  const now = useNewest(history);
  const strip = usePicture(() =>
    historyStrip(link.root, {
      onMove,
      describe: (p) => now.current && describe(now.current, measure.value, p),
      chart: CHART,
    }),
  );
  /** The same picture as in time travel, of what was chosen to look at. */
  useLayoutEffect(() => {
    if (history) strip.setHistory({ ...history, num_rows: history[measure.value] });
  }, [history, measure.value]);
  useLayoutEffect(() => {
    if (history) strip.show(position < 0 ? history.count - 1 : position);
  }, [history, measure.value, position]);
  return (
    <Panel
      title="Growth"
      beside={
        <Choices
          label="What grew"
          of={{ num_rows: "rows", data_bytes: "data", num_fragments: "fragments" }}
          chosen={measure}
        />
      }
    >
      <div class="lx-growth">
        <span class="lx-scale-label lx-quiet">
          {history ? mostWords(history, measure.value) : numListed && `reading ${plural(numListed, "version")}…`}
        </span>
        <Held element={strip.element} />
      </div>
      <div class="lx-legend">
        {history && kindLegend(history)}
        {history?.is_recorded.includes(1) &&
          legendEntry(<i class="lx-swatch lx-pale" />, "pale: known from the ledger")}
      </div>
      <div class="lx-chosen" role="status">
        {history && <Chosen link={link} history={history} position={position} />}
      </div>
    </Panel>
  );
}

function mostWords(history: OverviewHistory, measure: Measure) {
  const values = history[measure];
  const most = values.reduce(
    (best, value, p) => (value > (values[best] ?? -1) || Number.isNaN(values[best]) ? p : best),
    0,
  );
  return Number.isNaN(values[most])
    ? "not recorded"
    : `most: ${FORMATS[measure](values[most])}, version ${count(history.versions[most])}`;
}

function describe(history: OverviewHistory, measure: Measure, p: number) {
  const change = p ? history[measure][p] - history[measure][p - 1] : 0;
  const words = FORMATS[measure](Math.abs(change));
  return (
    <>
      {describeVersion(history, p)}
      {change ? (
        <div>
          {change > 0 ? "+" : "−"}
          {words} since the version before
        </div>
      ) : null}
    </>
  );
}

function Chosen({ link, history, position }: Pick<GrowthProps, "link" | "position"> & { history: OverviewHistory }) {
  if (position < 0)
    return (
      <span class="lx-quiet">
        Version {count(link.state.version ?? "?")} is not among those that can be shown; Refresh looks for new ones
      </span>
    );
  const version = String(history.versions[position]);
  const time = history.timeAt(position);
  const message = history.messages[position];
  return (
    <>
      <strong>Version {count(version)}</strong>
      {operationChip(history, position)}
      <span class="lx-chosen-words">
        {history.wordsOf(position)}
        {message && <em class="lx-quiet"> “{visible(message)}”</em>}
      </span>
      <span class="lx-quiet">{time ? `${relativeTime(time)}, ${absoluteTime(time)}` : absoluteTime(time)}</span>
      <LeadTo link={link} view="time_travel" changes={{ version }}>
        Open in Time travel
      </LeadTo>
      <LeadTo link={link} view="changes" changes={{ version, compared_version: versionBefore(history, position) }}>
        What changed
      </LeadTo>
    </>
  );
}
