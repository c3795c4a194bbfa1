// Times along a picture, in UTC.

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const [MINUTE, DAY] = [60_000, 86_400_000]; // ms

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

/** Return times between two others in ms, evenly apart, with their labels. */
export function timeMarks(first: number, last: number, count: number) {
  const span = last - first;
  if (!(span > 0)) return [];
  const times = Array.from({ length: count }, (_, i) => first + (span * (i + 1)) / (count + 1));
  return times.map((at, i) => ({ at, label: timeWithin(at, span, i ? times[i - 1] : null) }));
}
