// Pictures on a canvas: sharp, in the colours of the theme, with text that fits.

import { node } from "./elements";

/** Colours and fonts of the theme, as a canvas takes them. */
export interface Look {
  ink: string;
  quiet: string;
  line: string;
  paper: string;
  raised: string;
  accent: string;
  font: string;
  bold: string;
}

/** Return the colours and fonts of the theme that an element is shown in. */
export function lookOf(element: Element): Look {
  const color = (name: string) => themeColor(element, name);
  return {
    ink: color("ink"),
    quiet: color("quiet"),
    line: color("line"),
    paper: color("paper"),
    raised: color("raised"),
    accent: color("accent"),
    font: canvasFont(element),
    bold: canvasFont(element, 600),
  };
}

/**
 * A canvas that is sharp on every screen and as wide as its place. `draw(context, width, height)`
 * is called in CSS pixels, once a frame at most; `redraw()` asks for it.
 */
export function canvas(
  height: number,
  draw: (context: CanvasRenderingContext2D, width: number, height: number) => void,
) {
  const element = node("canvas", { class: "lx-canvas", style: { height: `${height}px` } });
  const context = contextOf(element);
  let asked = false;
  function redraw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      const width = element.clientWidth;
      const scale = globalThis.devicePixelRatio || 1;
      if (!width) return;
      const [wide, high] = [Math.round(width * scale), Math.round(element.clientHeight * scale)];
      if (element.width !== wide || element.height !== high) [element.width, element.height] = [wide, high];
      context.setTransform(scale, 0, 0, scale, 0, 0);
      context.clearRect(0, 0, width, element.clientHeight);
      draw(context, width, element.clientHeight);
    });
  }
  const observer = new ResizeObserver(redraw);
  observer.observe(element);
  return { element, redraw, close: () => observer.disconnect() };
}

/** Return what draws on a canvas. */
export function contextOf(element: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = element.getContext("2d");
  if (!context) throw new Error("this browser draws no pictures");
  return context;
}

/** Return a colour of the theme by its name in common.css, such as "ink". */
export function themeColor(element: Element, name: string) {
  return getComputedStyle(element).getPropertyValue(`--lx-${name}`).trim();
}

/** Call the listener when the page changes between light and dark; return how to stop. */
export function onTheme(listener: () => void) {
  const media = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(listener);
  observer.observe(document.body, {
    attributes: true,
    attributeFilter: ["data-jp-theme-name", "data-jp-theme-light", "class"],
  });
  media.addEventListener("change", listener);
  // JupyterLab names the theme before its style sheet has come.
  const loaded = ({ target }: Event) => (target as Element).tagName === "LINK" && listener();
  document.addEventListener("load", loaded, true);
  return () => {
    observer.disconnect();
    media.removeEventListener("change", listener);
    document.removeEventListener("load", loaded, true);
  };
}

export function canvasFont(element: Element, weight = 400, size = 11) {
  return `${weight} ${size}px ${getComputedStyle(element).fontFamily}`;
}

/** Return text that fits into a width, with an ellipsis if need be, or "" if there is no room. */
export function shortened(context: CanvasRenderingContext2D, text: string, width: number) {
  if (context.measureText(text).width <= width) return text;
  for (let length = Math.min(text.length - 1, Math.floor(width / 4)); length >= 3; length -= 1) {
    const shown = `${text.slice(0, length)}…`;
    if (context.measureText(shown).width <= width) return shown;
  }
  return "";
}

/** Return the first of some texts that fits into a width, or else the last. */
export function fitting(context: CanvasRenderingContext2D, texts: string[], width: number) {
  return texts.find((text) => context.measureText(text).width <= width) ?? texts[texts.length - 1];
}

/** Return black or white, whichever reads better on a colour. */
export function textOn(color: string) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111111" : "#ffffff";
}

/** Write text that can be read on anything: with an edge in the colour of the page. */
export function haloText(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  ink: string,
  paper: string,
) {
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = paper;
  context.strokeText(text, x, y);
  context.fillStyle = ink;
  context.fillText(text, x, y);
}
