// Marks on an axis of times, in UTC.

import { utcDay, utcMinute, utcMonth, utcTicks, utcYear } from "d3-time";

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

const [MINUTE, DAY] = [60_000, 86_400_000]; // ms

interface Mark {
  /** Milliseconds since 1970. */
  at: number;
  label: string;
}

/** Return about `count` marks between two times in ms; each says what is not said by the one before it. */
export function timeMarks(first: number, last: number, count: number): Mark[] {
  if (!(first < last)) return [];
  return utcTicks(new Date(first), new Date(last), count).map((tick) => ({ at: +tick, label: label(tick) }));
}

/**
 * Return a time in ms, in as few words as tell it from others within a span: "14:05:30", "28 Nov 14:05", "28 Nov 2026".
 * What the label before it says, of the time `before`, is left out.
 */
export function timeWithin(time: number, span: number, before: number | null) {
  const [now, then] = [new Date(time), before === null ? null : new Date(before)];
  const iso = now.toISOString();
  const isSame = (length: number) => then?.toISOString().slice(0, length) === iso.slice(0, length);
  const day = `${now.getUTCDate()} ${MONTHS[now.getUTCMonth()]}`;
  if (span >= 2 * DAY) return isSame(4) ? day : `${day} ${iso.slice(0, 4)}`;
  const clock = span < 2 * MINUTE ? iso.slice(11, 19) : iso.slice(11, 16);
  return isSame(10) ? clock : `${day} ${clock}`;
}

/** Return a time by its smallest part: "2026", "Nov", "28 Nov", "14:05", "14:05:30", "14:05:30.250". */
function label(time: Date) {
  const iso = time.toISOString();
  if (+utcYear(time) === +time) return iso.slice(0, 4);
  const month = MONTHS[time.getUTCMonth()];
  if (+utcMonth(time) === +time) return month;
  if (+utcDay(time) === +time) return `${time.getUTCDate()} ${month}`;
  if (+utcMinute(time) === +time) return iso.slice(11, 16);
  return time.getUTCMilliseconds() ? iso.slice(11, 23) : iso.slice(11, 19);
}
