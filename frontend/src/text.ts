// Numbers, sizes, times and names as text. Nothing here knows of the page.

/** A number that may not be known, in words. */
export function known<Value>(value: Value, format: (value: NonNullable<Value>) => string) {
  return value === null || value === undefined || Number.isNaN(value) ? "unknown" : format(value);
}

/** Return a part of 1 as whole percent, in the words that Python has for it. */
export function percent(share: number) {
  if (share > 0 && share < 0.01) return "less than 1 %";
  const shown = roundedToEven(100 * share);
  return shown === 100 && share < 1 ? "over 99 %" : `${shown} %`;
}

/** How far two times are apart: "3 days". */
export function duration([first, last]: [string, string]) {
  const seconds = Math.max(0, (Date.parse(last) - Date.parse(first)) / 1000);
  if (seconds < 1) return "less than a second";
  const units: [string, number][] = [
    ["day", 86400],
    ["hour", 3600],
    ["minute", 60],
    ["second", 1],
  ];
  const [unit, length] = units.find(([, length]) => seconds >= length) ?? ["second", 1];
  return plural(Math.round(seconds / length), unit);
}

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
// What is one picture although it is written with joiners and tags that are not seen.
const EMOJI = /\p{RGI_Emoji}/gv;

const SHORT_ESCAPES: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Return text with everything spelled out that cannot be seen or turns the line around. */
export function visible(text: unknown) {
  let shown = "";
  let end = 0;
  const whole = String(text);
  for (const { 0: emoji, index } of whole.matchAll(EMOJI)) {
    shown += spelledOut(whole.slice(end, index)) + emoji;
    end = index + emoji.length;
  }
  return shown + spelledOut(whole.slice(end));
}

function spelledOut(text: string) {
  return text.replace(UNSEEN, (c) => {
    if (SHORT_ESCAPES[c]) return SHORT_ESCAPES[c];
    const code = (c.codePointAt(0) ?? 0).toString(16);
    if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
    return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
  });
}

const CHARACTERS = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Return visible text of bounded length, which says how much of it is shown. */
export function cut(text: unknown, longest = 200) {
  const whole = String(text);
  if (whole.length <= longest) return visible(whole);
  let [number, end] = [0, whole.length];
  for (const { index } of CHARACTERS.segment(whole)) {
    if (number === longest) end = index;
    number += 1;
  }
  if (number <= longest) return visible(whole);
  return `${visible(whole.slice(0, end))}… (${count(longest)} of ${count(number)} characters)`;
}

/** Return text in one line of bounded length, as Python cuts it. */
export function oneLine(text: string, longest = 100) {
  const shown = visible(text.slice(0, 8 * longest));
  const characters = Array.from(shown);
  return characters.length <= longest ? shown : `${characters.slice(0, longest).join("")}...`;
}

/** Return a whole number (number, bigint or decimal string) with thousands parted. */
export function count(number: number | bigint | string) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Return "3 rows", "1 row". */
export function plural(number: number | bigint | string, noun: string, nouns = `${noun}s`) {
  return `${count(number)} ${String(number) === "1" ? noun : nouns}`;
}

/** Return a size in bytes as a person says it, in the words that Python has for it: 1.4 GB. */
export function bytes(size: number | string | null | undefined) {
  if (size === null || size === undefined) return "unknown size";
  const value = Number(size);
  if (value < 1000) return plural(Math.trunc(value), "byte");
  const units = ["kB", "MB", "GB", "TB", "PB", "EB"];
  let unit = 0;
  while (unit < units.length - 1 && Number(oneDecimal(value / 1000 ** (unit + 1))) >= 1000) unit += 1;
  return `${oneDecimal(value / 1000 ** (unit + 1))} ${units[unit]}`;
}

// Of two numbers that are as near, Python takes the even one.

function oneDecimal(value: number) {
  return (value % 1 === 0.25 ? value - 0.05 : value).toFixed(1);
}

function twoDecimals(value: number) {
  return (value % 0.5 === 0.125 ? value - 0.005 : value).toFixed(2);
}

function roundedToEven(value: number) {
  return Math.round(value) - (value % 2 === 0.5 ? 1 : 0);
}

/** Return a time (ISO text in UTC) as 2026-11-21 08:01:07 UTC. */
export function absoluteTime(iso: string | null) {
  return iso ? `${iso.slice(0, 19).replace("T", " ")} UTC` : "at an unknown time";
}

const DAY = 86_400;
const MONTH = 30.44 * DAY;
const YEAR = 12 * MONTH;
const UNITS: [Intl.RelativeTimeFormatUnit, number, number][] = [
  ["year", YEAR, 2 * YEAR],
  ["month", MONTH, MONTH],
  ["day", DAY, DAY],
  ["hour", 3600, 3600],
  ["minute", 60, 60],
  ["second", 1, 0],
];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Return how long ago a time (ISO text in UTC) was: "3 days ago"; months up to two years. */
export function relativeTime(iso: string | null, now: number = Date.now()) {
  if (!iso) return "";
  const seconds = (moment(iso) - now) / 1000;
  const [unit, length] = UNITS.find(([, , least]) => Math.abs(seconds) >= least) ?? ["second", 1];
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(Math.round(seconds / length), unit);
}

/** Return a time (ISO text in UTC) for a list: "3 days ago", or its day if that was over a month ago. */
export function listedTime(iso: string | null, now: number = Date.now()) {
  return iso && now - moment(iso) >= MONTH * 1000 ? dayOf(moment(iso)) : relativeTime(iso, now);
}

/** Return the day of a time in milliseconds since 1970: "12 Jan 2026". */
export function dayOf(time: number) {
  const day = new Date(time);
  return `${day.getUTCDate()} ${MONTHS[day.getUTCMonth()]} ${day.getUTCFullYear()}`;
}

const moment = (iso: string) => Date.parse(iso.endsWith("Z") || /[+-]\d\d:\d\d$/.test(iso) ? iso : `${iso}Z`);

/** Return a time in milliseconds since 1970 as ISO text, null for none. */
export function isoTime(milliseconds: number) {
  const time = new Date(milliseconds);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** Return bytes of one row: 0.42 bytes. */
export function perRow(value: number | null) {
  if (value === null || Number.isNaN(value)) return "unknown";
  const text = value === 0 ? "0" : value < 0.01 ? "< 0.01" : value < 10 ? twoDecimals(value) : oneDecimal(value);
  return `${text} B`;
}

/** Return a part of 1 as percent with a decimal near the ends: 100 only for all, 0 only for nothing. */
export function finePercent(share: number) {
  if (share === 0 || share === 1) return `${100 * share} %`;
  const text = (100 * share).toFixed(share < 0.1 || share > 0.99 ? 1 : 0);
  return text === "100.0" ? "over 99.9 %" : text === "0.0" ? "under 0.1 %" : `${text} %`;
}

/** An address as fragment and offset: "3:17". */
export function addressText(address: string) {
  return `${BigInt(address) >> 32n}:${BigInt(address) & 0xffffffffn}`;
}

/** Return an ID that fits into the margin. */
export function shortId(id: string) {
  return id.length > 8 ? `…${id.slice(-7)}` : count(id);
}
