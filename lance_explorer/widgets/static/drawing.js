// What pictures on a canvas share: text, colours, legends.

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

function canvasFont(element, weight = 400, size = 11) {
  return `${weight} ${size}px ${getComputedStyle(element).fontFamily}`;
}

/** Return text that fits into a width, with an ellipsis if need be, or "" if there is no room. */
function shortened(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  for (let length = Math.min(text.length - 1, Math.floor(width / 4)); length >= 3; length -= 1) {
    const shown = `${text.slice(0, length)}…`;
    if (context.measureText(shown).width <= width) return shown;
  }
  return "";
}

function kindColor(history, code) {
  return KIND_COLORS[history.kinds[code]] ?? KIND_COLORS.other;
}

/** Return the first of some texts that fits into a width, or else the last. */
function fitting(context, texts, width) {
  return texts.find((text) => context.measureText(text).width <= width) ?? texts.at(-1);
}

/** Return black or white, whichever reads better on a colour. */
function textOn(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111111" : "#ffffff";
}

function legendEntry(symbol, text) {
  return node("span", { class: "lx-legend-entry" }, symbol, text);
}

function isoTime(milliseconds) {
  const time = new Date(milliseconds);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** Return the typed arrays that came beside a content, by name. */
function unpackArrays(content) {
  const arrays = {};
  for (const [i, { name, type }] of content.arrays.entries()) {
    const { buffer, byteOffset, byteLength } = content.buffers[i];
    arrays[name] = new globalThis[type](buffer.slice(byteOffset, byteOffset + byteLength));
  }
  return arrays;
}

/** Write text that can be read on anything: with an edge in the colour of the page. */
function haloText(context, text, x, y, ink, paper) {
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = paper;
  context.strokeText(text, x, y);
  context.fillStyle = ink;
  context.fillText(text, x, y);
}
