// A table of rows alone.

import { connect } from "./link";
import type { FrameTableQuestions } from "./messages";
import type { View } from "./model";
import { rowTable } from "./rows";

export function render({ model, el }: View) {
  const link = connect<FrameTableQuestions>(model, el);
  const rows = rowTable(link, model.get("height"));
  const follow = () => rows.setHeight(model.get("height"));
  link.root.append(rows.element);
  model.on("change:height", follow);
  return () => {
    model.off("change:height", follow);
    link.close();
  };
}
