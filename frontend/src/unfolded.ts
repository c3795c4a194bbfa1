// Structs and lists, unfolded: each entry in a line of its own, numbers as they are written.

const MOST_ON_A_LINE = 100; // characters

/**
 * Return JSON in lines, indented by depth; lists and structs without others in them that fit stay on one.
 * No number is read, so that none is rounded; text that was cut stays cut.
 */
export function unfolded(json: string) {
  const lines: string[] = [];
  let line = "";
  let depth = 0;
  const end = () => {
    if (line.trim()) lines.push(line.trimEnd());
    line = "  ".repeat(depth);
  };
  for (let at = 0; at < json.length; ) {
    const character = json[at];
    if (character === '"') {
      const stop = endOfText(json, at);
      line += json.slice(at, stop);
      at = stop;
      continue;
    }
    if (character === "{" || character === "[") {
      const stop = endOfSimple(json, at);
      if (stop) {
        line += spaced(json.slice(at, stop));
        at = stop;
        continue;
      }
      line += character;
      depth += 1;
      end();
    } else if (character === "}" || character === "]") {
      depth = Math.max(0, depth - 1);
      end();
      line += character;
    } else if (character === ",") {
      line += character;
      end();
    } else line += character === ":" ? ": " : character;
    at += 1;
  }
  end();
  return lines.join("\n");
}

function endOfText(json: string, begin: number) {
  for (let at = begin + 1; at < json.length; at += 1) {
    if (json[at] === "\\") at += 1;
    else if (json[at] === '"') return at + 1;
  }
  return json.length;
}

/** Where a struct or list ends that is short and has none in it; 0 if it is not so. */
function endOfSimple(json: string, begin: number) {
  for (let at = begin + 1; at < Math.min(json.length, begin + MOST_ON_A_LINE); at += 1) {
    const character = json[at];
    if (character === '"') at = endOfText(json, at) - 1;
    else if (character === "{" || character === "[") return 0;
    else if (character === "}" || character === "]") return at + 1;
  }
  return 0;
}

function spaced(json: string) {
  let shown = "";
  for (let at = 0; at < json.length; at += 1) {
    if (json[at] === '"') {
      const stop = endOfText(json, at);
      shown += json.slice(at, stop);
      at = stop - 1;
    } else shown += json[at] === "," || json[at] === ":" ? `${json[at]} ` : json[at];
  }
  return shown;
}
