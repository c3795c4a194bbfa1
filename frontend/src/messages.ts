// What Python sends, by the view that asks for it. Numbers that may pass 2^53 are decimal strings,
// arrays come as bytes beside their names (arrays.ts), and null stands for what is not known.

/** The choices that views share: numbers as decimal strings, null where nothing is chosen. */
export interface State {
  version: string | null;
  compared_version: string | null;
  fragment_id: string | null;
  row_id: string | null;
  filter: string;
}

export type Changes = Partial<State>;

/** What failed, as the error pane shows it. */
export interface Failure {
  title: string;
  message: string;
  details?: string;
}

export interface Progress {
  text: string;
  fraction: number | null;
}

/** An answer that carries arrays: their names and types, and their bytes in the same order. */
export interface Packed {
  arrays: { name: string; type: ArrayType }[];
  buffers: DataView[];
}

export type ArrayType = "Float64Array" | "Float32Array" | "BigUint64Array" | "Int32Array" | "Uint8Array";

// ---------------------------------------------------------------------------------- all versions

export interface Tag {
  name: string;
  position: number;
}

/** What is told of all versions; arrays have one entry a version, or one a state of a fragment. */
export interface HistoryContent extends Packed {
  name: string;
  branch: string | null;
  kinds: string[];
  operations: (string | null)[];
  tags: Tag[];
  gaps: { first: string; last: string }[];
  messages: string[];
  recorded_words: string;
}

export interface HistoryArrays {
  versions: BigUint64Array;
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
  state_files: Int32Array;
  state_bytes: Float64Array;
  state_kind: Uint8Array;
}

// ------------------------------------------------------------------------------------- explorer

export interface About {
  name: string;
  uri: string;
  branch: string | null;
  branches: string[];
  tabs: { name: string; label: string }[];
}

/** Whether new versions are looked for, and what is said of them; `wait` in ms. */
export interface Live {
  is_on: boolean;
  wait: number;
  news: string;
  latest: string;
  note: string;
}

export interface Place {
  view: string;
  can_go_back: boolean;
  can_go_forward: boolean;
}

export interface Found {
  version?: string;
  problem?: string;
}

// --------------------------------------------------------------------------------------- advice

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
  view: string | null;
}

export interface Advice {
  counts: string;
  found: Finding[];
  num_found: number;
  nothing: string;
  problem?: string | null;
}

// ------------------------------------------------------------------------------------- overview

export interface Listed {
  count: number;
  names: string[];
}

export interface LatestFacts {
  version: string;
  latest_version: string;
  num_rows: string | null;
  num_deleted_rows: string | null;
  num_fragments: string;
  num_data_files: string;
  data_bytes: string | null;
  manifest_bytes: string;
  writer: string | null;
  flags: string[];
  indices: Listed;
  tags: Listed;
  branches: Listed;
  /** When it was committed, in ms. */
  time: number | null;
}

/** The same, with what only all versions tell. */
export interface TableFacts extends LatestFacts {
  num_lost: string;
}

export interface SizedCommit {
  version: string;
  position: number;
  amount: string;
  share: number;
  note: string | null;
}

export interface RestOfCommits {
  count: number;
  amount: string;
  share: number;
}

export interface Headline {
  before: string;
  link: string;
  version: string;
  after: string;
}

export interface Story {
  facts: TableFacts;
}

export type Sizes = Record<"bytes" | "rows", { versions: SizedCommit[]; rest: RestOfCommits }> & {
  headline: Headline | null;
};

/** What is known of the latest version before all versions are read; no facts if it cannot be read. */
export interface Latest {
  name: string;
  branch: string | null;
  num_listed: number;
  facts: LatestFacts | null;
}

// ----------------------------------------------------------------------------------- time travel

export interface SchemaEntry {
  path: string;
  type: string;
  nullable: boolean;
  change: string | null;
  before?: { path: string; type: string } | null;
}

export interface IndexEntry {
  name: string;
  type: string;
  fields: string[];
  segments: number;
  fragments: number | null;
  change: string | null;
}

export interface ConfigEntry {
  map: string;
  key: string;
  value: string;
  change: string | null;
  before?: string;
}

export interface Entries<Entry> {
  entries: Entry[];
  num_entries: number;
  num_there: number;
  num_changed: number;
}

export interface Details {
  schema: Entries<SchemaEntry>;
  indices: Entries<IndexEntry>;
  config: Entries<ConfigEntry>;
}

/** Why the rows of a version cannot be shown, or whether they keep their IDs. */
export interface ShownVersion {
  problem?: string;
  has_row_ids?: boolean;
}

// --------------------------------------------------------------------------------------- changes

/** The values of a column before and after, in rows that differ in it. */
export interface ChangedColumn {
  name: string;
  num_rows: string;
  num_read: string;
  nulls: [number, number];
  bars: { label: string; before: number; after: number }[];
}

export interface ChangedValues {
  begin: string;
  end: string;
  columns: ChangedColumn[];
}

export interface ChangeClass {
  name: string;
  color: string;
  num_rows: string | null;
}

export interface Cells {
  columns: { name: string; num_rows: string; presence: string }[];
  num_compared: string;
  num_rows: string;
  num_equal: string;
}

export interface Comparison {
  begin: string;
  end: string;
  times: (string | null)[] | null;
  commits: { kind: string; color: string; count: number }[];
  problem: Failure | null;
  lost: string | null;
  doubts: string | null;
  evidence: string | null;
  key: string[];
  needs_key: boolean;
  left_out: string[] | null;
  beside: string[];
  classes: ChangeClass[] | null;
  cells: Cells | null;
  unchanged: string | null;
  change: string | null;
  column: string | null;
}

export interface SameContent {
  words: string;
  is_same: boolean;
  code: string;
}

// ------------------------------------------------------------------------------------------ rows

/** How the cells of a column are shown. */
export type CellKind = "plain" | "binary" | "vector" | "nested";

/** A column that is shown, and its place among all. */
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

export interface AllColumns {
  columns: PickedColumn[];
  most: number;
}

/** How the values of a column are spread; numbers that may be large are text. */
export interface ColumnHead {
  has_order: boolean;
  bars: { label: string; count: number }[];
  num_nulls: number;
  num_distinct: string | null;
  least: string | null;
  middle: string | null;
  most: string | null;
}

export interface ColumnHeads {
  heads: ColumnHead[];
  num_rows: number;
  num_total: number;
}

/** What a cell shows beside its text. */
export type CellPiece =
  | { kind: "image" | "audio"; data: string | null; size: number; words: string }
  | { kind: "line"; points: (number | null)[]; words: string };

export interface RowsAbout {
  columns: RowColumn[];
  num_columns: number;
  num_rows: number;
  num_source_rows: number;
  num_selected: number;
  can_arrange: boolean;
  filter: string;
  sorts: [number, boolean][];
  failure: Failure | null;
  is_expression: boolean;
}

/** Rows that are here, column by column. */
export interface RowsPage {
  first: number;
  positions: string[];
  selected: boolean[];
  cells: (string | null)[][];
  marks: Record<number, (string | null)[]>;
  /** What changed cells were, by column. */
  earlier: Record<number, (string | null)[]>;
  more: (boolean[] | null)[];
  pieces: ((CellPiece | null)[] | null)[];
}

export interface WholeValue {
  text: string | null;
  size: number | null;
  shown: number;
  unit: string;
}

export interface CellDetail extends WholeValue {
  name: string;
  dtype: string;
  kind: CellKind;
  position: string;
  piece: CellPiece | null;
  earlier: WholeValue | null;
  /** What else there is to say of it. */
  note?: string;
}

export interface CopiedRows {
  text: string;
  num_rows: number;
  num_total: number;
}

// ----------------------------------------------------------------------------- lineage, and a row

export interface RowEvent {
  version: string;
  time: string | null;
  name: string;
  event: string;
  kind: string;
  operation: string | null;
  way: string;
  known: string;
  words: string[];
  source: string | null;
  branch: string | null;
  fragment_id: string;
  offset: string;
  is_end: boolean;
  is_recorded: boolean;
  doubt: string | null;
}

export interface CommitsContent extends Packed {
  kinds: string[];
  operations: (string | null)[];
  tags: { name: string; version: string; place: number }[];
  origins: { branch: string | null; end: number }[];
}

export interface CommitArrays {
  versions: Float64Array;
  times: Float64Array;
  kind: Uint8Array;
  is_recorded: Uint8Array;
}

export interface LineageAbout extends CommitsContent {
  name: string;
  branch: string | null;
  has_row_ids: boolean;
  begin: number;
  end: number;
  between: [number, number] | null;
}

/** A lane: what may stand at it, the longest first, and what is said of it. */
export interface Lane {
  node: string;
  kind: string;
  names: string[];
  title: string;
  facts: string[];
}

export interface LayoutContent extends Packed {
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
  keys: { mark: string; kind: string; words: string }[];
  row: LineageRow | null;
  row_problem: string | null;
  selected: SelectedLane | null;
}

export type RibbonKind = "rewrite" | "update" | "clone" | "restore";

/** The row that is followed; each stay is where it was: from, to, height, version. */
export interface LineageRow {
  row_id: string;
  num_events: number;
  events: RowEvent[];
  stays: [number, number, number, number][];
}

export interface SelectedLane {
  node: string;
  lane: number | null;
  lanes: number[];
  fragment_id: string;
  num_ancestors: string;
  num_descendants: string;
  only: boolean;
}

export interface LayoutArrays {
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

export interface RowAbout extends CommitsContent {
  name: string;
  branch: string | null;
  has_row_ids: boolean;
}

export interface FollowedRow {
  row_id: string | null;
  num_events: number;
  events?: RowEvent[];
  problem?: string | null;
}

export interface EventValue {
  name: string;
  value: string | null;
  piece: CellPiece | null;
  before: string | null;
  changed: boolean;
  is_absent: boolean;
  is_new: boolean;
}

export interface EventValues {
  is_read: boolean;
  is_end: boolean;
  is_compared: boolean;
  num_columns: number;
  values: EventValue[];
}

export interface RowValues {
  values?: EventValues[];
  problem?: string;
}

// ------------------------------------------------------------------------------------- encodings

export interface EncodingsStory {
  has_row_ids: boolean;
  growth_color: string;
  colors: Record<string, string>;
}

export interface GrowthArrays {
  growth_now: Float64Array;
  growth_best: Float64Array;
  growth_bytes: Float64Array;
  growth_segments: Float64Array;
}

export interface AgeArrays {
  age_created_at: Float64Array;
  age_last_updated_at: Float64Array;
}

export type SegmentMode = "position" | "row_id";

/** A raster of segments: its rows are first and last fragment, and how many. */
export interface SegmentsContent {
  rows: [string, string, number][];
  /** What is said of each row, in lines. */
  row_words: string[][];
  /** How much each row takes, now and at best. */
  row_sizes: string[];
  kinds: string[];
  num_bins: number;
  begin: string;
  end: string;
}

export interface EncodingStatistics {
  encoding: string;
  count: string;
  one_row: string;
  num_values: string;
  bytes: string | null;
  bytes_per_row: number | null;
}

export interface EncodingsVersion extends SegmentsContent, Packed {
  problem?: string;
  words: string[];
  statistics: EncodingStatistics[];
  choices: string[];
  num_fragments: number;
  mode: SegmentMode;
  is_one: boolean;
  one: SegmentsContent;
}

// --------------------------------------------------------------------------------------- indices

export interface IndicesStory {
  index: string | null;
  index_names: string[];
  problem?: string | null;
}

export interface LineArrays {
  line_index: Int32Array;
  line_first: Int32Array;
  line_last: Int32Array;
  line_answered: Float64Array;
  line_to_scan: Float64Array;
}

export type Coverage = "absent" | "covered" | "masked" | "not_covered" | "removed" | "unknown" | "no_index";

export interface LivesContent extends Packed {
  index: string;
  coverages: Coverage[];
  colors: Record<string, string>;
}

export interface LivesArrays {
  fragments: BigUint64Array;
  slot: Int32Array;
  first: Int32Array;
  last: Int32Array;
  coverage: Uint8Array;
}

export interface IndexFacts {
  name: string;
  type: string;
  fields: string[];
  num_segments: string;
  size_bytes: string | null;
  created: string;
  rebuilt: string;
  is_exact: boolean;
  num_rows_answered: string | null;
  num_rows_to_scan: string | null;
  num_fragments_covered: string | null;
  num_fragments_to_scan: string | null;
  num_fragments_removed: string | null;
  num_stale_entries: string | null;
}

export interface ReuseEntry {
  kind: string;
  dataset_version: string | null;
  num_old: string;
  num_new: string;
  rows_moved: string | null;
  caught_up: string[] | null;
  behind: string[] | null;
}

export interface VersionIndices {
  problem?: string;
  indices: IndexFacts[];
  num_indices: number;
  advice: Advice;
  reuse: ReuseEntry[];
  num_reuse_entries: number;
  reuse_bytes: string | null;
}

// ----------------------------------------------------------------------------------------- files

export interface FileTotals {
  kind: string;
  num_files: number;
  size_bytes: string;
  num_unknown: number;
}

/** Something that could be done about the size of a table; without code if every way breaks something. */
export interface Plan extends Answer {
  title: string;
  /** The code with all that has to stand before it. */
  lines: string;
}

/** What a cleanup and a compaction would make of the table; none where that cannot be told. */
export interface Plans {
  plans: Plan[];
}

/** What is on disk; `failure` alone where that cannot be told. */
export interface DiskUsage extends Packed {
  failure?: string;
  sentence: string;
  statuses: { name: string; words: string; color: string; bytes: string }[];
  kinds: { words: string; bytes: Record<string, string> }[];
  parts: { name: string; words: string; color: string }[];
  rest_bytes: string;
}

/** How much was written up to each version. */
export type DiskArrays = { disk_versions: BigUint64Array } & { [part: `disk_${string}`]: Float64Array };

export interface FilesStory {
  parts: { name: string; color: string }[];
}

/** Things of `begin` up to below `end`: how many, and how many of these are small. */
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

export interface FilesSummary extends Packed {
  failure?: string;
  version: string;
  file_bins: SizeBins;
  row_bins: SizeBins;
  small_words: string;
  large_words: string;
  threshold: number;
  totals: FileTotals[];
}

export interface SummaryArrays {
  fragment: BigUint64Array;
  fragment_rows: Float64Array;
  fragment_deleted: Float64Array;
}

// ------------------------------------------------------------------------------------------- log

/** Which commits are shown: arguments of `table.log()`. */
export interface LogFilters {
  text?: string;
  column?: string;
  since?: string;
  until?: string;
  operation?: string[];
}

export interface LogAbout {
  branch: string | null;
  columns: string[];
  filters: LogFilters;
}

/** The commits that are shown, each in a line: what there is to say of them. */
export interface LogAnswer extends Packed {
  /** Whether these are the newest alone, and the others are still read. */
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
  parent_versions: (string | null)[];
  parent_branches: (string | null)[];
}

export interface LogArrays {
  versions: BigUint64Array;
  lane: Int32Array;
  kind: Uint8Array;
  /** The line of the nearest commit before it that is shown; -1 for none. */
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

// ---------------------------------------------------------------------------------------- search

/** Something that can be searched for; one that ends in a space is to be completed. */
export interface Example {
  text: string;
  hint: string;
}

/** Where a view shows more. */
export interface AnswerPlace {
  view: string;
  choices: Changes;
  branch: string | null;
  words: string;
  /** Of the log, where that is the view. */
  filters: LogFilters;
}

/** A sentence, and where to look at what it says. */
export interface AnswerLine {
  words: string;
  place: AnswerPlace | null;
}

/** A part of an answer: sentences, or the first rows of a frame. */
export interface AnswerSection {
  name: string;
  title: string;
  is_warning: boolean;
  lines: AnswerLine[];
  columns: { name: string; is_number: boolean }[];
  rows: (string | null)[][];
  num_rows: number;
}

/** An answer: what it rests on, what is wrong, and the code that asks it or does it. */
export interface Answer {
  sentence: string;
  sections: AnswerSection[];
  findings: { code: string; severity: string; sentence: string }[];
  place: AnswerPlace | null;
  code: string;
}

/** An answer to what was typed, and whether one can search further. */
export interface SearchAnswer extends Answer {
  can_go_on: boolean;
}
