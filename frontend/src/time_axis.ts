// Marks on an axis of times, in UTC.

import { utcDay, utcMinute, utcMonth, utcTicks, utcYear } from "d3-time";

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

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
