// All views, by the name that Python has for each. A new view is a module with `render`, and a line here.

import { render as changes } from "./changes";
import { render as columns } from "./columns";
import { render as database } from "./database";
import { render as disk } from "./disk";
import { render as explorer } from "./explorer";
import { render as frame_table } from "./frame_table";
import { render as indices } from "./indices";
import { render as lineage_graph } from "./lineage_graph";
import { render as log } from "./log";
import type { View } from "./model";
import { render as overview } from "./overview";
import { render as row_history } from "./row_history";
import { render as segment_encodings } from "./segment_encodings";
import { render as time_travel } from "./time_travel";
import { render as unavailable } from "./unavailable";

/** Fill the element of a view; return what takes it away again. */
export type Render = (view: View) => () => void;

export const VIEWS: Record<string, Render> = {
  changes,
  columns,
  database,
  disk,
  explorer,
  frame_table,
  indices,
  lineage_graph,
  log,
  overview,
  row_history,
  segment_encodings,
  time_travel,
  unavailable,
};

export { openPage } from "./page";
export { openRecorded } from "./recorded";
export default { render: (view: View) => VIEWS[view.model.get("shows")](view) };
