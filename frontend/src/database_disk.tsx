// What all tables of a database take on disk, the largest first, and the cleanups that free most.

import type { Signal } from "@preact/signals";
import { Choices, Panel } from "./cards";
import { rich } from "./elements";
import { legendEntry, swatch } from "./legend";
import type { Answer, DatabaseUsage } from "./messages";
import { CopyButton } from "./reactive";
import { bytes, cut, visible } from "./text";

/** How old what a cleanup removes is at least, in days. */
export const AGES = { 14: "14 days", 7: "7 days", 1: "1 day", 0: "any age" };
export type Age = `${keyof typeof AGES}`;

interface DiskProps {
  usage: DatabaseUsage | null;
  /** What cleanups would free; null while that is being looked at. */
  cleanup: Answer | null;
  age: Signal<Age>;
  onAge: () => void;
  onOpen: (name: string) => void;
}

export function DatabaseDisk({ usage, cleanup, age, onAge, onOpen }: DiskProps) {
  if (!usage) return <p role="status">Looking at what is on disk…</p>;
  const totals = usage.lines.map(({ bytes: sizes }) =>
    Object.values(sizes).reduce((sum, size) => sum + Number(size), 0),
  );
  const most = Math.max(1, ...totals);
  return (
    <div class="lx-db-disk">
      <p>{rich(usage.sentence)}</p>
      {usage.not_counted.length > 0 && (
        <details class="lx-note">
          <summary>Not all is counted</summary>
          {usage.not_counted.map((why) => (
            <div>{rich(cut(why, 400))}</div>
          ))}
        </details>
      )}
      <Panel
        title="Cleanups of old versions, and those that free most"
        beside={<Choices<Age> label="How old at least" of={AGES} chosen={age} onChoose={onAge} />}
      >
        {cleanup ? (
          <>
            <p>{rich(cleanup.sentence)}</p>
            {cleanup.code && (
              <div class="lx-db-calls">
                <pre>{cleanup.code.split("\n").map(visible).join("\n")}</pre>
                <CopyButton text={cleanup.code} title="Copy the calls; a cleanup is run with pylance">
                  Copy the calls
                </CopyButton>
              </div>
            )}
          </>
        ) : (
          <p role="status">Looking what cleanups would remove…</p>
        )}
      </Panel>
      <div class="lx-legend">
        {usage.statuses.map(({ words, color, bytes: size }) => legendEntry(swatch(color), `${words}: ${bytes(size)}`))}
      </div>
      <div class="lx-db-bars">
        {usage.lines.map(({ name, bytes: sizes }, at) => (
          <button class="lx-line-button lx-db-bar-line" key={name} onClick={() => onOpen(name)}>
            <span class="lx-db-bar-name">{cut(name, 60)}</span>
            <span class="lx-db-stack">
              {usage.statuses.map(
                ({ name: status, words, color }) =>
                  status in sizes && (
                    <i
                      title={`${words}: ${bytes(sizes[status])}`}
                      style={{ background: color, width: `${(100 * Number(sizes[status])) / most}%` }}
                    />
                  ),
              )}
            </span>
            <span class="lx-db-bar-size">{bytes(totals[at])}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
