// The browser says and lays out what Python does: see tests/figures/from_python.py.

import { describe, expect, it } from "vitest";
import { unpackKept } from "../src/arrays";
import { commitBars } from "../src/commit_bars";
import { fragmentWords, liveShares, mapBars, statesAt, wordsOfSeveral } from "../src/fragment_map";
import { growthWords } from "../src/growth_picture";
import { historyOf } from "../src/history";
import {
  barOf,
  isCrowded,
  markSize,
  namedCommits,
  placeTags,
  tickVersions,
  timeForm,
  timeTitle,
} from "../src/lineage_places";
import { noteWords } from "../src/lineage_words";
import type { Growth, Packed, VersionData } from "../src/messages";
import { bytes, percent, perRow } from "../src/text";
import { versionWords } from "../src/version_words";
import given from "./from_python.json";

describe("numbers in the words of Python", () => {
  it("are sizes", () => expect(given.sizes.map(([size]) => [size, bytes(size)])).toEqual(given.sizes));
  it("are parts", () => expect(given.shares.map(([share]) => [share, percent(share as number)])).toEqual(given.shares));
  it("are bytes of a row", () =>
    expect(given.per_row.map(([size]) => [size, perRow(size as number)])).toEqual(given.per_row));
});

describe("the map of fragments", () => {
  it.each(given.maps)("of $name has the columns and words of Python", ({ history: sent, versions }) => {
    const history = historyOf(unpackKept(sent as Packed) as VersionData);
    const drawn = versions.map((_, position) => {
      const there = statesAt(history, position).filter(({ mark }) => mark !== "removed");
      return mapBars(history, there, 800).bars.map((bar) => ({
        left: bar.x,
        width: bar.width,
        shares: Object.fromEntries(
          liveShares(history, bar.members).map(([kind, share]) => [history.kinds[kind] ?? "unknown", share]),
        ),
        words: bar.members.length === 1 ? fragmentWords(history, bar.members[0]) : wordsOfSeveral(history, bar),
      }));
    });
    expect(drawn).toEqual(versions);
  });
});

describe("the growth of row IDs", () => {
  it.each(given.growth)("is told in the words of Python", ({ growth: sent, words }) => {
    const growth = unpackKept(sent as Packed) as Growth;
    expect(words.map((_, p) => growthWords(growth, p))).toEqual(words);
  });
});

const known = (value: number | null) => value ?? Number.NaN;

describe("a version", () => {
  it("is told in the words of Python", () => {
    const told = given.versions.map(({ words: _, origin, counts, ...facts }) =>
      versionWords({
        ...facts,
        origin: origin ?? undefined,
        counts: counts ? [known(counts[0]), known(counts[1]), known(counts[2])] : undefined,
      }),
    );
    expect(told).toEqual(given.versions.map(({ words }) => words));
  });
});

describe("the surroundings of the lineage are laid out as in Python", () => {
  it("bars of commits", () => {
    const found = given.bars.map(({ begin, unit, versions, kinds, dark }) =>
      commitBars(
        0,
        versions.length,
        (p) => barOf(versions[p], begin, unit),
        (p) => kinds[p],
        (p) => dark[p],
      ).map(({ isPale, ...part }) => ({ ...part, is_pale: isPale })),
    );
    expect(found).toEqual(given.bars.map(({ parts }) => parts));
  });
  it("names and marks of commits", () => {
    const found = given.names.map(({ versions, names, unit }) => {
      const [named, is_airy] = namedCommits(versions, (p) => names[p], 0, versions.length, unit);
      const [is_crowded, mark_size] = [isCrowded(versions.length, 20 * unit), markSize(unit)];
      return { versions, names, unit, named, is_airy, is_crowded, mark_size };
    });
    expect(found).toEqual(given.names);
  });
  it("tags", () => {
    const found = given.tags.map(({ tags, rows }) => placeTags(tags as [number, number][], 600, rows));
    expect(found).toEqual(given.tags.map(({ placed }) => placed));
  });
  it("ticks", () => {
    const found = given.ticks.map(({ begin, end, width }) => tickVersions(begin, end, width));
    expect(found).toEqual(given.ticks.map(({ ticks }) => ticks));
  });
  it("times", () => {
    const found = given.times.map(({ times }) => {
      const [first, , last] = times;
      return { times, words: times.map(timeForm(first, last)), title: timeTitle(first, last) };
    });
    expect(found).toEqual(given.times);
  });
  it("the note", () => {
    const found = given.notes.map(({ told }) => noteWords(...(told as Parameters<typeof noteWords>)));
    expect(found).toEqual(given.notes.map(({ words }) => words));
  });
});
