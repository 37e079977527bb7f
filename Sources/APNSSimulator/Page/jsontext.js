// Formats JSON for reading. Keeps every number, escape and repeated key as sent, which parsing and writing would change.

import { make } from "./dom.js";

const pattern = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs;
const depthMax = 64;

// Returns elements for a `pre`, or the text itself if it is not JSON.
export function layOut(text) {
  try {
    JSON.parse(text);
  } catch {
    return [text];
  }
  const tokens = text.match(pattern) ?? [];
  const pieces = [];
  let depth = 0;
  const lineBreak = () => pieces.push(`\n${"  ".repeat(Math.min(depth, depthMax))}`);
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    switch (token) {
    case "{":
    case "[":
      pieces.push(token);
      depth += 1;
      if (next !== "}" && next !== "]") lineBreak();
      break;
    case "}":
    case "]":
      depth -= 1;
      if (tokens[index - 1] !== "{" && tokens[index - 1] !== "[") lineBreak();
      pieces.push(token);
      break;
    case ",":
      pieces.push(token);
      lineBreak();
      break;
    case ":":
      pieces.push(": ");
      break;
    default:
      pieces.push(make("span", { class: next === ":" ? "json-key" : token[0] === '"' ? "json-text" : "json-other" }, token));
    }
  }
  return pieces;
}
