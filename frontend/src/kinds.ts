// Written by tools/build_frontend.py from lance_explorer/figures/palette.py.

/** A colour for each kind of commit. */
export const KIND_COLORS: Record<string, string> = {
  create: "#7a3fd0",
  append: "#4477aa",
  overwrite: "#b70589",
  update: "#ee9a3a",
  delete: "#cc3311",
  compact: "#44aa77",
  restore: "#33bbee",
  index: "#c8ae5a",
  schema: "#8c4934",
  config: "#a6a6a6",
  branch: "#857a30",
  other: "#5a5a5a",
};

/** What a table holds, and what is worth doing something about. */
export const [DATA_COLOR, WARNING_COLOR] = ["#6994bf", "#d87756"];
