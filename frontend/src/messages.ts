// Written by tools/write_messages.py from lance_explorer/widgets: what Python and the browser say
// to each other. Numbers that may pass 2^53 are decimal strings; null is what is not known.

// ----------------------------------------------------------------------------------------- advice

/** One thing that is wrong or worth doing. */
export interface Finding {
  code: string;
  severity: "error" | "warning" | "info";
  words: string;
  version: string | null;
  fragment_id: string | null;
  statement: string;
  why: string;
  remedy: string;
  remedy_code: string;
  /** Where more is shown. */
  view: string | null;
  /** The question to ask the explorer for a plan that repairs it. */
  question: string | null;
}

/** All advice, the most serious first. */
export interface Advice {
  counts: string;
  found: Finding[];
  num_found: number;
  /** The sentence if there is none. */
  nothing: string;
  /** Why it may be incomplete. */
  problem?: string | null;
}

// ----------------------------------------------------------------------------------------- answer

/** Which commits are shown: arguments of `table.log()`. */
export interface LogFilters {
  since?: string | null;
  until?: string | null;
  operation?: string[] | null;
  text?: string | null;
  column?: string | null;
}

/** Choices to set in another view; missing ones stay unchanged. */
export interface Choices {
  version?: string | null;
  compared_version?: string | null;
  fragment_id?: string | null;
  row_id?: string | null;
}

/** The view that shows more. */
export interface AnswerPlace {
  view: string;
  choices: Choices;
  branch: string | null;
  words: string;
  /** Filters of the log, if that is the view. */
  filters: LogFilters;
}

/** A sentence, and the view that shows more about it. */
export interface AnswerLine {
  words: string;
  place: AnswerPlace | null;
}

/** A column of a section. */
export interface AnswerColumn {
  name: string;
  is_number: boolean;
  is_words: boolean;
}

/** A part of an answer: sentences, or the first rows of a frame. */
export interface AnswerSection {
  name: string;
  title: string;
  is_warning: boolean;
  lines: AnswerLine[];
  columns: AnswerColumn[];
  rows: (string | null)[][];
  num_rows: number;
}

/** A finding about the data of an answer. */
export interface AnswerFinding {
  code: string;
  severity: string;
  sentence: string;
}

/** What to ask next. */
export interface AnswerAsk {
  words: string;
  question: string;
}

/** An answer: its sections, its findings, and the code that asks or does it. */
export interface Answer {
  sentence: string;
  sections: AnswerSection[];
  findings: AnswerFinding[];
  place: AnswerPlace | null;
  asks: AnswerAsk[];
  code: string;
  /** Whether the code does what the answer is about, so that people want to see it. */
  is_call: boolean;
}

/** An answer to a typed text, and whether the search can continue. */
export interface SearchAnswer extends Answer {
  can_go_on: boolean;
}

// ------------------------------------------------------------------------------------------- base

/** What browsers call an array. */
export type ArrayType = "Float64Array" | "BigUint64Array" | "Int32Array" | "Uint8Array";

/** The kind: a question was received, an answer, progress, or news without a question. */
export type What = "taken" | "reply" | "error" | "progress" | "news";

/** What happens to the view of a page: traits, a message, or there is none. */
export type PageMethod = "update" | "custom" | "failure";

/** A question of the browser. */
export interface Question {
  kind: string;
  seq?: number;
  /** Which view asks: several may show one model. */
  asker?: string | null;
  /** The numbers on the way to the view that is asked, where it is within another. */
  part?: number[];
  arguments?: Record<string, unknown>;
}

/** Where in a message an array belongs, and its type. */
export interface ArrayPlace {
  path: (string | number)[];
  type: ArrayType;
}

/** A message of a view: a receipt, an answer, progress, or news without a question. */
export interface ViewMessage {
  what: What;
  kind: string;
  content: unknown;
  seq?: number | null;
  asker?: string | null;
  part?: number[];
  arrays?: ArrayPlace[];
}

/** What goes over a WebSocket: as the widget protocol has it; so many buffers follow. */
export interface PageMessage {
  method: PageMethod;
  num_buffers: number;
  state?: unknown;
  content?: unknown;
}

/** A message as JSON has it, and its arrays as bytes, in base64 where they are kept. */
export interface Packed {
  content: unknown;
  arrays?: ArrayPlace[];
  buffers?: string[];
}

// ---------------------------------------------------------------------------------------- changes

/** All versions, and the columns that can identify rows. */
export interface ChangesData extends VersionData {
  has_row_ids: boolean;
  key_columns: string[];
}

/** How many values are in a bin before and after. */
export interface ValueBar {
  label: string;
  before: number;
  after: number;
}

/** The values of a column before and after, in rows that differ in it. */
export interface ChangedColumn {
  name: string;
  num_rows: string;
  num_read: string;
  nulls: [number, number];
  bars: ValueBar[];
  /** Mean and deviation, before and after; of vectors how far they moved. */
  words: string;
  /** Whether bars count the cosine between before and after; then only `after` is used. */
  is_cosine: boolean;
  /** The rows whose vectors moved furthest. */
  movers: string[];
}

/** The values of changed columns, and summaries of whole columns if reading them is quick. */
export interface ChangedValues {
  begin: string;
  end: string;
  columns: ChangedColumn[];
  whole: AnswerSection | null;
}

/** A class of changed rows. */
export interface ChangeClass {
  name: string;
  color: string;
  num_rows: string | null;
}

/** The number of updated rows in which a column differs. */
export interface DifferingColumn {
  name: string;
  num_rows: string;
  presence: string;
}

/** What comparing cells gave. */
export interface Cells {
  columns: DifferingColumn[];
  num_compared: string;
  num_rows: string;
  num_equal: string;
}

/** What is shown above the rows; no classes until they are counted. */
export interface Comparison {
  begin: string;
  end: string;
  key: string[];
  beside: string[];
  change: string | null;
  column: string | null;
  problem: Failure | null;
  classes: ChangeClass[] | null;
  unchanged: string | null;
  doubts: string;
  lost: string;
  evidence: string;
  needs_key: boolean;
  left_out: string[] | null;
  cells: Cells | null;
}

/** Whether two versions hold the same values. */
export interface SameContent {
  words: string;
  is_same: boolean;
  code: string;
}

// ---------------------------------------------------------------------------------------- columns

/** An SVG path: an area if it has a colour, else a line; y runs from 0 at the top to 100. */
export interface ColumnArea {
  path: string;
  color: string | null;
  opacity: number;
  /** The value that the area shows; "" for bands of quantiles. */
  label: string;
}

/** A version in which the values of a column moved. */
export interface ColumnShift {
  version: string;
  share: string;
  words: string;
}

/** A column, or a nested field, over versions. */
export interface ColumnLine {
  name: string;
  type: string;
  unit: string;
  low: string;
  high: string;
  areas: ColumnArea[];
  shifts: ColumnShift[];
}

/** The columns, with pictures whose x is the position of a version. */
export interface Columns {
  sentence: string;
  lines: ColumnLine[];
  num_columns: number;
  /** How much was not read, such as "1.2 GB"; "" if nothing. */
  unread: string;
  problems: string[];
}

/** The values of a column in a version. */
export interface ColumnFacts {
  name: string;
  num_rows: string;
  nulls: string;
  distinct: string;
  typical: string;
  ends: string;
  /** The heights of the bars of its histogram, or of its frequent values; the highest is 1. */
  bars: number[];
  bar_words: string[];
}

/** The values of the columns in a version. */
export interface VersionColumns {
  facts: ColumnFacts[];
}

// --------------------------------------------------------------------------------------- database

/** The database, the names of its tables, and its views. */
export interface DatabaseAbout {
  name: string;
  uri: string;
  names: string[];
  tabs: Tab[];
}

/** The view that is shown, and the table whose explorer is shown instead of it. */
export interface DatabasePlace {
  view: string;
  table: string | null;
}

/** A table of the database; null means unknown. */
export interface TableLine {
  name: string;
  /** Why it cannot be read. */
  problem: string | null;
  /** The severity of the worst finding. */
  worst: string | null;
  finding: string | null;
  num_rows: string | null;
  num_fragments: string | null;
  fragments_to_compact: string | null;
  num_versions: string | null;
  size_bytes: string | null;
  live_bytes: string | null;
  unindexed_rows: string | null;
  last_commit: string | null;
  last_compaction: string | null;
  last_cleanup_after: string | null;
  /** The size of its data files over its versions, as parts of the largest. */
  growth: number[] | null;
}

/** All tables, what hurts most first. */
export interface DatabaseTables {
  sentence: string;
  lines: TableLine[];
}

/** A table at one time: its version, or why it has none. */
export interface MomentLine {
  name: string;
  version: string | null;
  timestamp: string | null;
  num_rows: string | null;
  problem: string | null;
}

/** All tables at one time. */
export interface MomentShown {
  sentence: string;
  code: string;
  lines: MomentLine[];
}

/** The result of a search: a time, or rows; or an error. */
export interface DatabaseSearch {
  moment?: MomentShown | null;
  answer?: SearchAnswer | null;
  problem?: string | null;
}

/** The newest commits of all tables, newest first; each table is a lane. */
export interface DatabaseLog {
  /** The names of the lanes, those with the newest commit first. */
  tables: string[];
  kinds: string[];
  /** Whether there are older commits. */
  is_cut: boolean;
  /** Why commits of some tables are missing. */
  not_read: string[];
  lane: Int32Array;
  kind: Uint8Array;
  versions: BigUint64Array;
  /** In ms since 1970; NaN where it is not known. */
  times: Float64Array;
  branch: (string | null)[];
  operation: (string | null)[];
  words: (string | null)[];
}

/** What a table takes on disk, by status. */
export interface TableUsage {
  name: string;
  bytes: Record<string, string>;
}

/** What all tables take on disk, the largest first. */
export interface DatabaseUsage {
  sentence: string;
  not_counted: string[];
  statuses: DiskStatus[];
  lines: TableUsage[];
}

// ------------------------------------------------------------------------------------------- disk

/** A part of manifests, with its bytes in each version. */
export interface ManifestPart {
  name: string;
  color: string;
  values: Float64Array;
}

/** All versions, and what their manifests consist of. */
export interface DiskData extends VersionData {
  parts: ManifestPart[];
}

/** How many files of a kind there are, their bytes, and how many have no known size. */
export interface FileTotals {
  kind: string;
  num_files: string;
  size_bytes: string;
  num_unknown: number;
}

/** A cleanup or compaction that would save space; without code if it breaks something. */
export interface Plan extends Answer {
  title: string;
  /** The code with the lines that it needs before it. */
  lines: string;
}

/** What a cleanup and a compaction would do; none if that is unknown. */
export interface Plans {
  plans: Plan[];
}

/** The owner of objects, and their bytes. */
export interface DiskStatus {
  name: string;
  words: string;
  color: string;
  bytes: string;
}

/** A kind of object, and its bytes by status. */
export interface DiskKind {
  words: string;
  bytes: Record<string, string>;
}

/** A kind of file, with the bytes that were written up to each version. */
export interface DiskPart {
  name: string;
  words: string;
  color: string;
  values: Float64Array;
}

/** What is on disk, and since when. */
export interface DiskUsage {
  sentence: string;
  statuses: DiskStatus[];
  kinds: DiskKind[];
  parts: DiskPart[];
  versions: BigUint64Array;
  rest_bytes: string;
}

/** Objects from `begin` up to `end`: how many, and how many of these are small. */
export interface SizeBin {
  begin: number;
  end: number;
  total: number;
  small: number;
  words: string;
}

/** A histogram of sizes; `aim` is counted in bins. */
export interface SizeBins {
  bins: SizeBin[];
  edges: string[];
  ticks: [number, string][];
  aim: number | null;
  beyond: string;
  note: string;
}

/** The files of one version in numbers; unknown numbers of rows are NaN. */
export interface FilesSummary {
  version: string;
  file_bins: SizeBins;
  row_bins: SizeBins;
  small_words: string;
  large_words: string;
  threshold: number;
  totals: FileTotals[];
  fragment: BigUint64Array;
  fragment_rows: Float64Array;
  fragment_deleted: Float64Array;
}

/** Whether the table shows the files, or why not. */
export interface FilesShown {
  problem?: string | null;
}

// -------------------------------------------------------------------------------------- encodings

/** The horizontal axis: positions of row IDs in the sequence, or the row IDs themselves. */
export type SegmentMode = "position" | "row_id";

/** All versions, and the colours of encodings. */
export interface EncodingsData extends VersionData {
  has_row_ids: boolean;
  growth_color: string;
  colors: Record<string, string>;
}

/** For each version the bytes per row ID, now and at best, and all bytes; NaN is unknown. */
export interface Growth {
  growth_now: Float64Array;
  growth_best: Float64Array;
  growth_bytes: Float64Array;
  growth_segments: Float64Array;
}

/** How many rows each version created, and last updated. */
export interface Ages {
  age_created_at: Float64Array;
  age_last_updated_at: Float64Array;
}

/** A raster of segments: its rows are fragments, one each or several. */
export interface Segments {
  /** First and last fragment, and their number. */
  rows: [string, string, number][];
  /** The text of each row, in lines. */
  row_words: string[][];
  /** The bytes of each row, now and at best. */
  row_sizes: string[];
  kinds: string[];
  num_bins: number;
  begin: string;
  /** The values at the edges of the picture. */
  end: string;
  /** For each row and bin the most frequent encoding, a position in `kinds`, or 255. */
  kind: Uint8Array;
  /** How much of the bin is filled, of 255. */
  fill: Uint8Array;
  /** How many segments begin there. */
  begins: Int32Array;
  /** The bytes of each row and encoding. */
  bytes: Float64Array;
  /** The bytes of each row at best; NaN if unknown. */
  best: Float64Array;
}

/** How often an encoding occurs, and what it takes. */
export interface EncodingStatistics {
  encoding: string;
  count: string;
  one_row: string;
  num_values: string;
  bytes: string | null;
  bytes_per_row: number | null;
}

/** The data of a version; `one` is the chosen fragment. */
export interface EncodingsVersion {
  words: string[];
  statistics: EncodingStatistics[];
  /** The fragments to choose from. */
  choices: string[];
  num_fragments: number;
  mode: SegmentMode;
  segments: Segments;
  one: Segments | null;
  ages: Ages;
}

// --------------------------------------------------------------------------------------- explorer

/** A view, the name on its tab, and whether only experts need it. */
export interface Tab {
  name: string;
  label: string;
  is_advanced?: boolean;
}

/** The table, its branches and its views. */
export interface About {
  name: string;
  uri: string;
  branch: string | null;
  branches: string[];
  tabs: Tab[];
}

/** Whether it looks for new versions, and the notice about them. */
export interface Live {
  is_on: boolean;
  /** In ms, until the next look. */
  wait: number;
  news: string;
  latest: string;
  note: string;
}

/** How long to wait before the next look, in ms. */
export interface Wait {
  wait: number;
}

/** The view that is shown, and whether one can go back or forward. */
export interface Place {
  view: string;
  can_go_back: boolean;
  can_go_forward: boolean;
}

/** A suggestion; one that ends in a space is to be completed. */
export interface Example {
  text: string;
  hint: string;
}

/** The suggestions. */
export interface Examples {
  examples: Example[];
}

/** Where to find what was typed, or its answer, or an error. */
export interface SearchResult {
  view?: string | null;
  changes?: Choices | null;
  branch?: string | null;
  answer?: SearchAnswer | null;
  problem?: string | null;
}

/** Lines of Python for what is shown. */
export interface Code {
  code: string;
}

// ---------------------------------------------------------------------------------------- indices

/** What an index covers of a fragment. */
export type Coverage = "absent" | "covered" | "masked" | "not_covered" | "removed" | "unknown" | "no_index";

/** All versions, and ranges in which an index answered the same rows. */
export interface IndicesData extends VersionData {
  index: string | null;
  index_names: string[];
  problem: string | null;
  line_index: Int32Array;
  line_first: Int32Array;
  line_last: Int32Array;
  line_answered: Float64Array;
  line_to_scan: Float64Array;
}

/** What an index covered of each fragment, from version to version. */
export interface IndexLives {
  index: string;
  coverages: Coverage[];
  colors: Record<string, string>;
  fragments: BigUint64Array;
  slot: Int32Array;
  first: Int32Array;
  last: Int32Array;
  coverage: Uint8Array;
}

/** The index that is drawn. */
export interface IndexName {
  name: string;
}

/** Facts about an index in one version; null is unknown. */
export interface IndexFacts {
  name: string;
  type: string;
  fields: string[];
  num_segments: string;
  size_bytes: string | null;
  created: string;
  rebuilt: string;
  /** Whether it was created in this version, and not earlier. */
  is_exact: boolean;
  num_rows_answered: string | null;
  num_rows_to_scan: string | null;
  num_fragments_covered: string | null;
  num_fragments_to_scan: string | null;
  num_fragments_removed: string | null;
  num_stale_entries: string | null;
}

/** An entry of the reuse history, and which indices have caught up with it. */
export interface ReuseEntry {
  kind: string;
  dataset_version: string | null;
  num_old: number;
  num_new: number;
  rows_moved: string | null;
  caught_up: string[] | null;
  behind: string[] | null;
}

/** The indices of one version. */
export interface VersionIndices {
  indices: IndexFacts[];
  num_indices: number;
  advice: Advice;
  reuse: ReuseEntry[];
  num_reuse_entries: number;
  reuse_bytes: string | null;
}

// ---------------------------------------------------------------------------------------- lineage

/** What moved rows from lane to lane. */
export type RibbonKind = "rewrite" | "update" | "clone" | "restore";

/** The text of an event of a row. */
export interface RowEvent {
  version: string;
  time: string | null;
  event: string;
  kind: string;
  operation: string | null;
  way: string;
  known: string;
  words: string[];
  source: string | null;
  branch: string | null;
  is_end: boolean;
  is_recorded: boolean;
}

/** An event on the timeline of a row, with the fragment and offset at which it is drawn. */
export interface PlacedEvent extends RowEvent {
  name: string;
  fragment_id: string;
  offset: string;
  doubt: string | null;
  /** The author or the job, if it was recorded. */
  who: string | null;
  message: string | null;
}

/** A tag, its version and the position of that version. */
export interface CommitTag {
  name: string;
  version: string;
  place: number;
}

/** A branch from which versions were inherited, and the number of versions up to its end. */
export interface Origin {
  branch: string | null;
  end: number;
}

/** Commits: versions, times in ms and kinds. All branches except the last are inherited from. */
export interface Commits {
  kinds: string[];
  operations: (string | null)[];
  tags: CommitTag[];
  origins: Origin[];
  versions: Float64Array;
  /** Unknown is NaN. */
  times: Float64Array;
  kind: Uint8Array;
  is_recorded: Uint8Array;
}

/** The subject of the lineage picture. */
export interface LineageAbout extends Commits {
  name: string;
  branch: string | null;
  has_row_ids: boolean;
  begin: number;
  end: number;
  between: [number, number] | null;
}

/** The first and the last version that are shown; null for all. */
export interface Between {
  span: [number, number] | null;
}

/** A lane: its labels, the longest first, and its text. */
export interface Lane {
  node: string;
  kind: string;
  names: string[];
  title: string;
  facts: string[];
}

/** An entry of the legend. */
export interface LineageKey {
  mark: string;
  kind: string;
  words: string;
}

/** The followed row; each stay is a place where it was: from, to, height, version. */
export interface LineageRow {
  row_id: string;
  num_events: number;
  events: RowEvent[];
  stays: [number, number, number, number][];
}

/** The chosen node, with the lanes of its ancestors and descendants. */
export interface SelectedLane {
  node: string;
  lane: number | null;
  lanes: number[];
  fragment_id: string;
  num_ancestors: number;
  num_descendants: number;
  only: boolean;
}

/** Lanes, their steps and ribbons, with their texts. */
export interface LineageLayout extends Commits {
  begin: number;
  end: number;
  height: number;
  has_labels: boolean;
  has_rest: boolean;
  num_fragments: number;
  num_ribbons: number;
  lanes: Lane[];
  ribbon_kinds: RibbonKind[];
  step_words: string[];
  ribbon_words: string[][];
  rewrite_words: string[][];
  keys: LineageKey[];
  row: LineageRow | null;
  row_problem: string | null;
  selected: SelectedLane | null;
  lane_x0: Float64Array;
  lane_x1: Float64Array;
  lane_y: Float64Array;
  lane_room: Float64Array;
  step_lane: Int32Array;
  step_x0: Float64Array;
  step_x1: Float64Array;
  step_thickness: Float64Array;
  ribbon_from: Int32Array;
  ribbon_to: Int32Array;
  ribbon_kind: Uint8Array;
  ribbon_x0: Float64Array;
  ribbon_x1: Float64Array;
  ribbon_y0: Float64Array;
  ribbon_y1: Float64Array;
  ribbon_width0: Float64Array;
  ribbon_width1: Float64Array;
  rewrite_x: Float64Array;
  rewrite_y: Float64Array;
  rewrite_thickness: Float64Array;
}

/** The commits on the axis of the life of a row. */
export interface RowAbout extends Commits {
  name: string;
  branch: string | null;
  has_row_ids: boolean;
  /** The columns that identify a row for people. */
  key: string[];
}

/** The events of the chosen row, or why there are none. */
export interface FollowedRow {
  row_id: string | null;
  num_events: number;
  events: PlacedEvent[];
  problem: string | null;
}

/** The value of a column at an event. */
export interface EventValue {
  name: string;
  value: string | null;
  piece: ImagePiece | AudioPiece | LinePiece | null;
  before: string | null;
  changed: boolean;
  is_absent: boolean;
  is_new: boolean;
}

/** The values of a row at an event; none if they were not read. */
export interface EventValues {
  is_read: boolean;
  is_end: boolean;
  is_compared: boolean;
  num_columns: number;
  values: EventValue[];
}

/** The values at each event, or why there are none. */
export interface RowValues {
  values: EventValues[];
  problem: string | null;
}

// -------------------------------------------------------------------------------------------- log

/** What the log can be filtered by, and the current filters. */
export interface LogAbout {
  branch: string | null;
  columns: string[];
  filters: LogFilters;
}

/** The commits that are shown, each in a line; an unknown number is NaN. */
export interface LogAnswer {
  /** Whether these are only the newest, while the others are being read. */
  is_part: boolean;
  kinds: string[];
  /** How many commits there are of each kind. */
  counts: Record<string, number>;
  num_found: number;
  num_commits: number;
  num_lanes: number;
  heads: boolean[];
  branch: (string | null)[];
  operation: (string | null)[];
  words: (string | null)[];
  message: (string | null)[];
  author: (string | null)[];
  job: (string | null)[];
  run: (string | null)[];
  properties: (string | null)[];
  tags: string[][];
  branches_here: string[][];
  columns: (string | null)[];
  /** Whether the values of existing rows are known to be unchanged. */
  keeps_values: Uint8Array;
  parent_versions: (string | null)[];
  parent_branches: (string | null)[];
  versions: BigUint64Array;
  lane: Int32Array;
  kind: Uint8Array;
  /** The line of the nearest earlier commit that is shown; -1 for none. */
  parent: Int32Array;
  times: Float64Array;
  lost: Float64Array;
  bytes_change: Float64Array;
  is_recorded: Uint8Array;
  rows_added: Float64Array;
  rows_updated: Float64Array;
  rows_deleted: Float64Array;
  rows_overwritten: Float64Array;
  rows_restored: Float64Array;
}

/** The newest commits, if reading all may take long. */
export interface NewestLog {
  log: LogAnswer | null;
  own_branch: string | null;
}

// --------------------------------------------------------------------------------------- overview

/** How many there are, and the first names. */
export interface Listed {
  count: number;
  names: string[];
}

/** What the manifest of the latest version says. */
export interface LatestFacts {
  version: string;
  latest_version: string;
  num_rows: string | null;
  num_deleted_rows: string | null;
  num_fragments: string;
  num_data_files: string;
  data_bytes: string | null;
  manifest_bytes: string;
  writer: string;
  flags: string[];
  indices: Listed;
  tags: Listed;
  branches: Listed;
  /** When it was committed, in ms. */
  time: number | null;
}

/** The same, with what only all versions together say. */
export interface TableFacts extends LatestFacts {
  num_lost: string;
}

/** What is known before all versions are read; no facts if the latest version cannot be read. */
export interface Latest {
  name: string;
  branch: string | null;
  num_listed: number;
  facts: LatestFacts | null;
}

/** All versions, and facts of the latest. */
export interface Story extends VersionData {
  facts: TableFacts | null;
}

/** One of the newest commits. */
export interface LateCommit {
  version: string;
  kind: string;
  /** In ms. */
  time: number | null;
  words: string;
  message: string | null;
  /** The author or the job, if it was recorded. */
  who: string | null;
}

/** The newest commits, the latest first. */
export interface Lately {
  commits: LateCommit[];
}

/** A version that wrote a large part of the current data. */
export interface SizedCommit {
  version: string;
  position: number;
  amount: string;
  share: number;
  note: string | null;
}

/** All others. */
export interface RestOfCommits {
  count: number;
  amount: string;
  share: number;
}

/** The versions that wrote most of the current data. */
export interface LargestCommits {
  versions: SizedCommit[];
  rest: RestOfCommits;
}

/** A sentence with a link to a version in its middle. */
export interface Headline {
  before: string;
  link: string;
  version: string;
  after: string;
}

/** What made the latest version big. */
export interface Sizes {
  headline: Headline | null;
  bytes: LargestCommits;
  rows: LargestCommits;
}

// ------------------------------------------------------------------------------------------ parts

/** The shown place, as the part of a link after `#`, and the number of places before it. */
export interface Address {
  text: string;
  step: number;
}

/** A view within another: its number in messages, and its traits. */
export interface Part {
  number: number;
  shows: string;
  label: string;
  opens: string[];
  height?: number;
  kind?: string;
  offline?: string;
  /** Its own choices, unless it shares those of the whole. */
  shared?: SharedState;
  place?: Place;
  live?: Live;
  address?: Address;
  /** The views within it. */
  parts?: Record<string, Part>;
}

// --------------------------------------------------------------------------------------- recorded

/** Why there is no answer. */
export interface NotAnswered {
  not_answered: Failure;
}

/** The first rows of a version, of changes or of a life, with their row IDs; or why not. */
export interface KeptRows {
  about?: RowsAbout | null;
  page?: RowsPage | null;
  heads?: ColumnHeads | null;
  ids?: (string | null)[];
  has_row_ids?: boolean | null;
  problem?: string | null;
  not_answered?: Failure | null;
}

/** The life of a row, with its values. */
export interface Life extends KeptRows {
  life: FollowedRow | NotAnswered;
  values: RowValues | NotAnswered;
}

/** The texts about what the page does not contain. */
export interface Missing {
  title: string;
  rows: string;
  changes: string;
  life: string;
  version: string;
  whole: string;
  other: string;
}

/** The state of the page at its start. */
export interface RecordedPage {
  about: About;
  latest: string;
  offline: string;
  parts: Record<string, Part>;
  tags: Record<string, string>;
  /** Rows by their IDs and by their positions. */
  names: Record<string, string>;
  /** The rows whose lives the page contains, in rising order. */
  rows: string[];
  /** Where an answer is: the shelf, and the position in it. */
  index: Record<string, [number, number]>;
  missing: Missing;
}

// ------------------------------------------------------------------------------------------- rows

/** How the cells of a column are shown. */
export type CellKind = "plain" | "binary" | "vector" | "nested";

/** What a click or a key does to the selection. */
export type SelectionWay = "only" | "toggle" | "all" | "none";

/** A visible column, and its position among all. */
export interface RowColumn {
  name: string;
  place: number;
  dtype: string;
  kind: CellKind;
  is_number: boolean;
  is_sortable: boolean;
}

/** A column that can be shown. */
export interface PickedColumn {
  name: string;
  dtype: string;
  is_shown: boolean;
}

/** All columns, and how many can be shown. */
export interface AllColumns {
  columns: PickedColumn[];
  most: number;
}

/** How many values are in a bin. */
export interface HeadBar {
  label: string;
  count: number;
  /** The filter for these values, if there is one. */
  where: string | null;
}

/** The distribution of a column; large numbers are text. */
export interface ColumnHead {
  has_order: boolean;
  bars: HeadBar[];
  num_nulls: number;
  where_null: string;
  num_distinct: string | null;
  least: string | null;
  middle: string | null;
  most: string | null;
}

/** The heads of all columns, and the number of rows that they describe. */
export interface ColumnHeads {
  heads: ColumnHead[];
  num_rows: number;
  num_total: number;
}

/** A picture, as a data URL unless it is too large. */
export interface ImagePiece {
  kind: "image";
  data: string | null;
  size: number;
  words: string;
}

/** A sound. */
export interface AudioPiece extends Omit<ImagePiece, "kind"> {
  kind: "audio";
}

/** A vector as a line: heights from 0 to 1, null for a gap. */
export interface LinePiece {
  kind: "line";
  points: (number | null)[];
  words: string;
}

/** What a cell shows besides its text. */
export type CellPiece = ImagePiece | AudioPiece | LinePiece;

/** What is known about the rows before any is asked for. */
export interface RowsAbout {
  columns: RowColumn[];
  num_columns: number;
  num_rows: number;
  num_source_rows: number;
  num_selected: number;
  filter: string;
  sorts: [number, boolean][];
  failure: Failure | null;
  is_expression: boolean;
}

/** Rows, column by column. */
export interface RowsPage {
  first: number;
  positions: number[];
  selected: boolean[];
  cells: (string | null)[][];
  /** Marks of cells, by the position of their column. */
  marks: Record<number, (string | null)[]>;
  /** Values of changed cells before the change, by the position of their column. */
  earlier: Record<number, (string | null)[]>;
  more: (boolean[] | null)[];
  pieces: ((ImagePiece | AudioPiece | LinePiece | null)[] | null)[];
}

/** The text of a value, its size, and how much of it is shown. */
export interface WholeValue {
  text: string | null;
  size: number | null;
  shown: number | null;
  unit: string;
}

/** One value, whole unless it is very long. */
export interface CellDetail extends WholeValue {
  name: string;
  dtype: string;
  kind: CellKind;
  position: number;
  piece: ImagePiece | AudioPiece | LinePiece | null;
  earlier: WholeValue | null;
  /** Other facts about it. */
  note?: string;
}

/** How many rows are selected. */
export interface Selection {
  num_selected: number;
}

/** Rows as CSV, and the number of rows without the limit. */
export interface CopiedRows {
  text: string;
  num_rows: number;
  num_total: number;
}

// ----------------------------------------------------------------------------------------- shared

/** The choices; null where nothing is chosen. */
export interface State {
  version: string | null;
  compared_version: string | null;
  fragment_id: string | null;
  row_id: string | null;
  filter: string;
}

/** The choices, and how often they have changed at least. */
export interface SharedState extends State {
  revision: number;
}

/** Choices to set; missing ones stay unchanged. */
export interface Changes {
  version?: string | null;
  compared_version?: string | null;
  fragment_id?: string | null;
  row_id?: string | null;
  filter?: string;
}

/** How often the state has changed. */
export interface Revision {
  revision: number;
}

/** What failed, as the error pane shows it. */
export interface Failure {
  title: string;
  message: string;
  details?: string;
}

/** Why there is no answer, if a view shows that. */
export interface Problem {
  problem: string;
}

/** The progress of an answer: in words, and as a fraction if it is known. */
export interface Progress {
  text: string;
  fraction: number | null;
}

/** What a view is working on. */
export interface Busy {
  text: string;
}

/** What a typed text names, or an error. */
export interface Found {
  version?: string | null;
  row_id?: string | null;
  problem?: string | null;
}

/** A tag, and the position of its version among the kept ones. */
export interface Tag {
  name: string;
  position: number;
}

// ------------------------------------------------------------------------------------ time travel

/** The earlier values of a field, where they differ. */
export interface FieldBefore {
  path?: string | null;
  type?: string | null;
  nullable?: boolean | null;
}

/** A field, and its change in this version. */
export interface SchemaEntry {
  path: string;
  type: string;
  nullable: boolean;
  change: string | null;
  before?: FieldBefore | null;
}

/** An index. */
export interface IndexEntry {
  name: string;
  type: string;
  fields: string[];
  segments: number;
  fragments: number | null;
  change: string | null;
}

/** An entry of one of the maps of a table. */
export interface ConfigEntry {
  map: string;
  key: string;
  value: string;
  change: string | null;
  before?: string | null;
}

/** The total, the current number and the changed number; the first are listed. */
export interface Entries {
  num_entries: number;
  num_there: number;
  num_changed: number;
}

/** The fields of a version. */
export interface SchemaEntries extends Entries {
  entries: SchemaEntry[];
}

/** The indices of a version. */
export interface IndexEntries extends Entries {
  entries: IndexEntry[];
}

/** The configuration of a version. */
export interface ConfigEntries extends Entries {
  entries: ConfigEntry[];
}

/** What a version contains besides its rows. */
export interface Details {
  schema: SchemaEntries;
  indices: IndexEntries;
  config: ConfigEntries;
}

/** Why the rows of a version cannot be shown, or whether they have stable IDs. */
export interface ShownVersion {
  has_row_ids?: boolean | null;
  problem?: string | null;
}

// --------------------------------------------------------------------------------------- versions

/** Versions that are not kept. */
export interface Gap {
  first: string;
  last: string;
  reason: string;
}

/**
 * All kept versions, and all states of fragments with the versions that contain them.
 *
 * Those that begin with `state_` have one value for each state, ordered by fragment. Positions
 * count kept versions from 0. An unknown count is NaN, an unknown position -1.
 */
export interface VersionData {
  name: string;
  branch: string | null;
  kinds: string[];
  operations: (string | null)[];
  tags: Tag[];
  gaps: Gap[];
  messages: (string | null)[];
  recorded_words: string;
  versions: BigUint64Array;
  /** In ms. */
  times: Float64Array;
  kind: Uint8Array;
  is_recorded: Uint8Array;
  num_rows: Float64Array;
  num_deleted_rows: Float64Array;
  num_fragments: Float64Array;
  data_bytes: Float64Array;
  state_fragment: BigUint64Array;
  state_slot: Int32Array;
  state_first: Int32Array;
  state_last: Int32Array;
  state_made_at: Int32Array;
  state_rows: Float64Array;
  state_deleted: Float64Array;
  state_files: Float64Array;
  state_bytes: Float64Array;
  state_kind: Uint8Array;
}

/** What commits did, in words, by version. */
export interface Words {
  words: Record<string, string>;
}

/** What is asked of View: its arguments, and the answer. */
export interface ViewQuestions {
  state: [{ changes: Changes }, Revision];
  go: [{ view: string; changes: Changes }, object];
}

/** What is asked of GridView: its arguments, and the answer. */
export interface GridViewQuestions extends ViewQuestions {
  columns: [object, AllColumns];
  show_columns: [{ places: number[] | null }, object];
  rows: [object, RowsAbout];
  page: [{ first: number; count: number }, RowsPage];
  heads: [object, ColumnHeads];
  select: [{ row: number; anchor: number; how: SelectionWay }, object];
  detail: [{ row: number; column: number }, CellDetail];
  csv: [object, CopiedRows];
}

/** What is asked of LineageGraph: its arguments, and the answer. */
export interface LineageGraphQuestions extends ViewQuestions {
  open: [{ refresh?: boolean }, LineageAbout];
  picture: [{ span: [number, number] | null }, LineageLayout];
  look: [{ span: [number, number] | null }, object];
  select: [{ node: string | null; only?: boolean }, object];
  find: [{ text: string }, Found];
}

/** What is asked of Unavailable: its arguments, and the answer. */
export interface UnavailableQuestions extends ViewQuestions {
  make: [object, object];
}

/** What is asked of VersionsView: its arguments, and the answer. */
export interface VersionsViewQuestions extends ViewQuestions {
  words: [{ first: string; last: string }, Words];
}

/** What is asked of Whole: its arguments, and the answer. */
export interface WholeQuestions extends ViewQuestions {
  visit: [{ address: string }, object];
  link: [object, Address];
}

/** What is asked of ArrangedView: its arguments, and the answer. */
export interface ArrangedViewQuestions extends GridViewQuestions {
  sort: [{ sorts: [number, boolean][] }, object];
}

/** What is asked of Columns: its arguments, and the answer. */
export interface ColumnsQuestions extends VersionsViewQuestions {
  history: [{ refresh?: boolean }, VersionData];
  columns: [{ everything?: boolean }, Columns | Problem];
  version: [{ version: string }, VersionColumns | Problem];
}

/** What is asked of DatabaseExplorer: its arguments, and the answer. */
export interface DatabaseExplorerQuestions extends WholeQuestions {
  about: [object, DatabaseAbout];
  tables: [object, DatabaseTables];
  log: [object, DatabaseLog];
  usage: [object, DatabaseUsage];
  cleanup: [{ days: number }, Answer];
  search: [{ text: string }, DatabaseSearch];
  show: [{ view: string }, object];
  open_table: [{ name: string; version?: string | null; branch?: string | null }, object];
  code: [object, Code];
  follow: [{ on: boolean }, object];
  look: [object, Wait];
}

/** What is asked of Explorer: its arguments, and the answer. */
export interface ExplorerQuestions extends WholeQuestions {
  about: [object, About];
  branch: [{ branch: string | null }, object];
  step: [{ by: number }, object];
  search: [{ text: string }, SearchResult];
  search_on: [object, SearchResult];
  examples: [object, Examples];
  show_log: [{ filters: LogFilters }, object];
  code: [object, Code];
  follow: [{ on: boolean }, object];
  look: [object, Wait];
  newest: [object, object];
}

/** What is asked of Indices: its arguments, and the answer. */
export interface IndicesQuestions extends VersionsViewQuestions {
  history: [{ refresh?: boolean }, IndicesData];
  lives: [{ index: string }, IndexLives];
  version: [{ version: string }, VersionIndices | Problem];
  choose: [{ index: string }, object];
}

/** What is asked of Log: its arguments, and the answer. */
export interface LogQuestions extends VersionsViewQuestions {
  newest: [object, NewestLog];
  about: [object, LogAbout];
  log: [{ filters: LogFilters; refresh?: boolean }, LogAnswer | Problem];
}

/** What is asked of Overview: its arguments, and the answer. */
export interface OverviewQuestions extends VersionsViewQuestions {
  latest: [object, Latest];
  story: [{ refresh?: boolean }, Story];
  lately: [object, Lately | Problem];
  first_rows: [object, AnswerSection | Problem];
  sizes: [object, Sizes];
  disk: [object, DiskUsage | Problem];
  plans: [object, Plans];
  advice: [object, Advice];
}

export type RowsViewQuestions = ArrangedViewQuestions;

export type FrameTableQuestions = RowsViewQuestions;

/** What is asked of RowHistory: its arguments, and the answer. */
export interface RowHistoryQuestions extends RowsViewQuestions {
  open: [object, RowAbout];
  find: [{ text: string }, Found];
  step: [{ direction: number }, Found];
  row: [object, FollowedRow];
  values: [object, RowValues];
}

/** What is asked of TimeTravel: its arguments, and the answer. */
export interface TimeTravelQuestions extends VersionsViewQuestions, ArrangedViewQuestions {
  history: [{ refresh?: boolean }, VersionData];
  details: [{ version: string }, Details];
  find: [{ text: string }, Found];
  show_version: [{ version: string }, ShownVersion];
  choose_row: [{ row: number }, object];
}

/** What is asked of Changes: its arguments, and the answer. */
export interface ChangesQuestions extends VersionsViewQuestions, RowsViewQuestions {
  history: [{ refresh?: boolean }, ChangesData];
  comparison: [object, Comparison];
  find: [{ text: string; name?: "begin" | "end" }, Found];
  same_content: [{ begin: string; end: string }, SameContent];
  values: [object, ChangedValues];
  narrow: [{ change: string | null; column: string | null }, object];
  key: [{ key: string[] }, object];
}

/** What is asked of Disk: its arguments, and the answer. */
export interface DiskQuestions extends VersionsViewQuestions, RowsViewQuestions {
  history: [{ refresh?: boolean }, DiskData];
  summary: [{ version: string | null }, FilesSummary | Problem];
  disk: [object, DiskUsage | Problem];
  plans: [object, Plans];
  advice: [{ version: string | null }, Advice];
  kind: [{ of: string }, object];
  files: [object, FilesShown];
}

/** What is asked of SegmentEncodings: its arguments, and the answer. */
export interface SegmentEncodingsQuestions extends VersionsViewQuestions, RowsViewQuestions {
  history: [{ refresh?: boolean }, EncodingsData];
  growth: [object, Growth | Problem];
  advice: [{ version: string }, Advice];
  version: [{ version: string; fragment: string | null; mode: SegmentMode }, EncodingsVersion | Problem];
}

/** What views tell unasked. */
export interface News {
  versions: object;
  rows: RowsAbout;
  selection: Selection;
  between: Between;
  busy: Busy;
  about: About;
  index: IndexName;
  filters: LogFilters;
  compared: Comparison;
  comparing: Busy;
}

/** What Python shares with views, by name; each has some of it. */
export interface ViewTraits {
  label: string;
  opens: string[];
  shared: SharedState;
  shows: string;
  address: Address;
  parts: Record<string, Part>;
  database_place: DatabasePlace;
  live: Live;
  place: Place;
  height: number;
  kind: "data_files" | "deletions" | "indices";
}
