// In the place of a view that could not be made: the failure, and a button to try again.

import { connect } from "./link";
import type { UnavailableQuestions } from "./messages";

import type { View } from "./model";

export function render({ model, el }: View) {
  const link = connect<UnavailableQuestions>(model, el);
  link.ask("make");
  return link.close;
}
