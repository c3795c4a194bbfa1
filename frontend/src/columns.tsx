// The view: the values of each column, over versions and in the chosen one.

import "./columns.css";
import { batch, signal } from "@preact/signals";
import { rich } from "./elements";
import { isCommand } from "./keys";
import type { ColumnFacts, ColumnLine, Columns, ColumnsQuestions } from "./messages";
import { Note, needing, placeClass, view } from "./reactive";
import { count, cut } from "./text";
import { VersionHead } from "./version_head";
import { versionsOf } from "./versions";

const REST = 100; // milliseconds

export const render = view<ColumnsQuestions>("lx-sheet lx-values", ({ link, onClose, follow, awaits }) => {
  const versions = versionsOf(link, (args) => link.ask("history", args));
  const { history, position, moveTo } = versions;
  const columns = signal<Columns | null>(null);
  const problem = signal("");
  const facts = signal<Record<string, ColumnFacts> | null>(null);
  const isMoving = signal(false); // what is shown is of another version
  const isReading = signal(false);
  let resting = 0;

  async function load(isRefresh: boolean) {
    await versions.load(isRefresh);
    await read(false);
  }

  async function read(everything: boolean) {
    isReading.value = true;
    const found = await link.ask("columns", { everything });
    batch(() => {
      isReading.value = false;
      problem.value = "problem" in found ? found.problem : "";
      columns.value = "problem" in found ? null : found;
    });
    link.root.dataset.columns = "problem" in found ? "none" : String(found.lines.length);
  }

  // Ask for the values of the chosen version, once the slider rests and all were read.
  follow(() => {
    const version = history.value?.versions[position.value];
    clearTimeout(resting);
    isMoving.value = true;
    if (version !== undefined && columns.value) resting = window.setTimeout(() => askFacts(String(version)), REST);
  });
  onClose(() => clearTimeout(resting));

  async function askFacts(version: string) {
    const found = await link.ask("version", { version });
    if (version !== String(history.value?.versions[position.value])) return;
    batch(() => {
      facts.value = "problem" in found ? {} : Object.fromEntries(found.facts.map((one) => [one.name, one]));
      isMoving.value = false;
    });
    link.root.dataset.shown = version;
  }

  awaits(history);
  load(false);

  return () => {
    const [every, now, found] = [history.value, position.value, columns.value];
    const more = found ? found.num_columns - new Set(found.lines.map(({ name }) => name.split(".")[0])).size : 0;
    return (
      <>
        <VersionHead link={link} versions={versions} onRefresh={() => load(true)} note={cut(problem.value, 1000)} />
        <Note role="status">{isReading.value && !found ? "Reading the values of all versions ..." : ""}</Note>
        {found && (
          <p class="lx-values-story">
            <span>{rich(found.sentence)}</span>
            {found.unread && (
              <button
                class="lx-button lx-small"
                onClick={() => read(true)}
                {...needing(link)}
                disabled={isReading.value || Boolean(link.offline)}
              >
                Read the other {found.unread}
              </button>
            )}
          </p>
        )}
        {found?.problems.map((one) => (
          <p class="lx-refusal">{rich(cut(one, 500))}</p>
        ))}
        {every && found && (
          <ul class={placeClass("lx-values-list", true, isMoving.value)} aria-label="Columns">
            {found.lines.map((line) => (
              <ColumnRow
                key={line.name}
                line={line}
                facts={facts.value === null ? null : facts.value[line.name]}
                position={now}
                size={every.count}
                onMove={moveTo}
                placeOf={(version) => every.positionOf(version) ?? -1}
              />
            ))}
          </ul>
        )}
        {more > 0 && (
          <p class="lx-quiet">
            and {count(more)} more: <code>table.profile([...])</code> reads those that you name
          </p>
        )}
      </>
    );
  };
});

interface RowProps {
  line: ColumnLine;
  /** Of the chosen version; undefined if that does not have the column, null before it is read. */
  facts: ColumnFacts | undefined | null;
  position: number;
  /** How many versions there are. */
  size: number;
  onMove: (position: number) => void;
  placeOf: (version: string) => number;
}

function ColumnRow({ line, facts, position, size, onMove, placeOf }: RowProps) {
  const at = (place: number) => `${(100 * (place + 0.5)) / size}%`;
  const chosen = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    onMove(Math.min(size - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * size))));
  };
  const pressed = (event: KeyboardEvent) => {
    const target = { ArrowLeft: position - 1, ArrowRight: position + 1, Home: 0, End: size - 1 }[event.key];
    if (target === undefined || isCommand(event)) return;
    event.preventDefault();
    onMove(Math.min(size - 1, Math.max(0, target)));
  };
  const words = facts ? [facts.num_rows, facts.nulls, facts.distinct, facts.typical].filter(Boolean) : [];
  return (
    <li class="lx-values-column" data-column={line.name}>
      <div class="lx-values-name">
        <strong>{cut(line.name, 80)}</strong>
        <span class="lx-quiet">{cut(line.type, 60)}</span>
        {line.unit && <span class="lx-quiet">{line.unit}</span>}
      </div>
      <div class="lx-values-now">
        {facts ? (
          <>
            <div class="lx-values-bars" role="img" aria-label={`${line.name}: ${facts.bar_words.join(", ")}`}>
              {facts.bars.map((height, place) => (
                <i style={{ height: `${Math.max(height ? 4 : 0, 100 * height)}%` }} title={facts.bar_words[place]} />
              ))}
            </div>
            <div>{words.join(" · ")}</div>
            <div class="lx-quiet">{cut(facts.ends, 80)}</div>
          </>
        ) : (
          <span class="lx-quiet">{facts === null ? "reading it…" : "not in this version"}</span>
        )}
      </div>
      <div class="lx-values-over">
        <div class="lx-values-ends lx-quiet">
          <span>{line.high}</span>
          <span>{line.low}</span>
        </div>
        <div class="lx-values-frame">
          <div
            class="lx-values-picture"
            role="slider"
            tabIndex={0}
            aria-label={pictureWords(line)}
            aria-valuemin={1}
            aria-valuemax={size}
            aria-valuenow={position + 1}
            onClick={chosen}
            onKeyDown={pressed}
          >
            <svg viewBox={`0 0 ${size} 100`} preserveAspectRatio="none" aria-hidden="true">
              {line.areas.map((area) =>
                area.color ? (
                  <path d={area.path} fill={area.color} fill-opacity={area.opacity}>
                    <title>{area.label}</title>
                  </path>
                ) : (
                  <path class="lx-values-line" d={area.path} />
                ),
              )}
            </svg>
            {position >= 0 && <i class="lx-values-cursor" style={{ left: at(position) }} />}
          </div>
          {line.shifts.map((shift) => (
            <button
              class="lx-values-shift"
              style={{ left: at(placeOf(shift.version)) }}
              title={`Version ${count(shift.version)}: moved by ${shift.share}. ${shift.words.replaceAll("`", "")}`}
              aria-label={`Version ${count(shift.version)}: ${line.name} moved by ${shift.share}`}
              onClick={() => onMove(placeOf(shift.version))}
            />
          ))}
        </div>
        {line.areas.some(({ label }) => label) && (
          <div class="lx-legend">
            {line.areas.map(({ label, color }) => (
              <span class="lx-legend-entry">
                <i class="lx-swatch" style={{ background: color ?? "" }} />
                {cut(label, 24)}
              </span>
            ))}
          </div>
        )}
        {line.shifts.length > 0 && (
          <div class="lx-values-cause lx-quiet">
            v{count(line.shifts[0].version)} moved it by {line.shifts[0].share}: {rich(cut(line.shifts[0].words, 160))}
          </div>
        )}
      </div>
    </li>
  );
}

function pictureWords({ name, low, high, shifts }: ColumnLine) {
  const moved = shifts.map(({ version, share }) => `version ${count(version)} by ${share}`);
  return `${name} over versions, from ${low} to ${high}${moved.length ? `; moved in ${moved.join(", ")}` : ""}`;
}
