import { type ComponentChildren, render } from "preact";

/** The element that something is drawn into. */
export function drawn(content: ComponentChildren) {
  const element = document.createElement("div");
  render(content, element);
  return element;
}
