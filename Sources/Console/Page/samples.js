// The samples of a group of dead letters, and the actions on one dead letter.

import * as actions from "./actions.js";
import { make } from "./dom.js";
import * as editor from "./editor.js";
import { button, card, code, facts, nameOrDash, note } from "./parts.js";
import { hide, isAsked, problemOf, reveal, valueOf } from "./reveal.js";
import { address } from "./router.js";
import { commandOf, may, offers } from "./session.js";
import { moment } from "./words.js";

const keyOf = (sample) => `payload ${sample.at} ${sample.id}`;

export const sampleCards = (group, samples) => make("ul", { class: "cards" },
  samples.map((sample, index) => sampleCard(group, sample, index)));

function sampleCard(group, sample, index) {
  const value = valueOf(keyOf(sample));
  const body = value?.value ?? sample.body;
  return card(`${keyOf(sample)} ${index}`,
    make("div", { class: "card-head" },
      make("h4", {}, make("a", { href: address("find", "id", sample.id ?? "") }, nameOrDash(sample.id))),
      make("p", { class: "since" }, moment(sample.at))),
    make("p", { class: "note" }, [sample.app, sample.code].filter(Boolean).join(" · ")),
    problemOf(keyOf(sample)),
    body && make("pre", {
      class: "sample", tabindex: "0", role: "region", "aria-label": `Body of ${sample.id}`,
    }, pretty(body, { decodes: true })),
    (value ?? sample).truncated && note("The sample has only the beginning of the body."),
    Object.keys(sample.headers ?? {}).length > 0 && make("details", {}, make("summary", {}, "Headers"),
      facts(Object.entries(sample.headers).map(([name, text]) => [name, String(text)]))),
    may("operate") && make("div", { class: "buttons" }, buttons(group, sample, index)));
}

function buttons(group, sample, index) {
  const key = keyOf(sample);
  const small = (name) => ({ class: "small", disabled: isAsked(key), "aria-label": `${name}: ${sample.id}` });
  return [
    valueOf(key) ? button("Hide payload", () => hide(key), small("Hide payload"))
      : button(isAsked(key) ? "Revealing…" : "Reveal payload", () => revealBody(group, sample, index),
        small("Reveal payload")),
    sample.id && offers("edit") && button("Edit…", () => edit(group, sample, index), small("Edit")),
    sample.id && offers("drop", "admin")
      && button("Drop…", () => drop(`id == ${JSON.stringify(sample.id)}`, sample.id), small("Drop")),
  ];
}

// A newer sample may have another index. The console finds the sample by its time.
const revealBody = (group, sample, index) => reveal(keyOf(sample),
  { kind: "payload", group: group.group, index, at: sample.at });

async function edit(group, sample, index) {
  const answer = valueOf(keyOf(sample)) ?? await revealBody(group, sample, index);
  if (answer === null) return;
  const isWhole = !answer.truncated;
  // A body that is not UTF-8 differs from its text.
  const hasText = isWhole && !answer.value.includes("\uFFFD");
  actions.open({
    action: "edit", title: `Edit ${sample.id}`, confirm: "Send", role: "operate", fields: ["body"],
    arguments: { id: sample.id, failed_at: null, original: hasText ? answer.value : null },
    values: { body: isWhole ? pretty(answer.value) : "" },
    isCostly: true, isSecret: true,
    note: () => (isWhole
      ? note("The console sends the corrected request to its request queue, and removes the dead letter.")
      : note("The sample has only the beginning of the body. Enter the whole body, or edit the dead letter with ",
        code(commandOf("dead_letters_edit")), ".")),
  });
  if (isWhole) editor.start(pretty(answer.value));
}

// Opens the action that removes the dead letters of a filter. `name`: what the dead letters have in common.
export function drop(where, name) {
  actions.open({
    action: "drop", title: `Drop ${name}`, confirm: "Drop", role: "admin", fields: [],
    arguments: { where, max: null, until: null }, isCostly: true,
    note: () => note("The console writes the dead letters to a new file in the folder console.export_folder of its ",
      "machine, and then removes them from the queue. The result names the file. To return the dead letters, run ",
      code(commandOf("dead_letters_import")), "."),
  });
}

const indentMax = 20;

// Returns JSON with line breaks, and other texts unchanged. All numbers stay as they are, and all strings unless
// `decodes`, which replaces their escapes.
function pretty(text, { decodes = false } = {}) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  let [result, last, depth] = ["", "", 0];
  const line = () => `\n${"  ".repeat(Math.min(depth, indentMax))}`;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs)) {
    const isEnd = token === "}" || token === "]";
    const isBegun = last === "{" || last === "[";
    if (isEnd) depth -= 1;
    if (isBegun ? !isEnd : isEnd || last === ",") result += line();
    result += token === ":" ? ": " : decodes && token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token;
    if (token === "{" || token === "[") depth += 1;
    last = token;
  }
  return result;
}
