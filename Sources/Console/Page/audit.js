// The page Audit: all actions, logins and refusals, newest first.

import { call, query } from "./api.js";
import { code, heading, mark, nothing } from "./parts.js";
import { icon, make } from "./dom.js";
import { groupWorkers } from "./outcome.js";
import { older } from "./paging.js";
import { formatCount, moment } from "./words.js";

const paging = older((before) => call("GET", `/api/audit${query({ before })}`), "records");

export const page = {
  name: "audit", title: "Audit", uses: ["audit", "actions"],
  async load() {
    return paging.first();
  },
  draw() {
    const records = paging.all();
    if (records.length === 0) {
      return [heading("Audit"), nothing("No record yet",
        "Each action, login and refusal is recorded here, from this console, other consoles and the command line.")];
    }
    return [heading("Audit"), make("ol", { class: "records", key: "records" }, records.map(row)), paging.button()];
  },
};

const keyOf = (record) => `${record.id ?? ""} ${record.at} ${record.by} ${record.verb} ${record.phase} ${record.command ?? ""}`;

const row = (record) => make("li", { class: "record", key: keyOf(record), "data-item": true, tabindex: "-1" },
  make("time", {}, moment(record.at)),
  make("div", {},
    make("p", {}, make("strong", {}, record.by), " ", make("span", { class: "verb" }, record.verb), " ",
      phase(record), record.result && ` ${groupWorkers(record.result)}`,
      Number.isFinite(record.count) && ` (${formatCount(record.count)})`),
    record.why && make("p", { class: "why" }, icon("quote"), record.why),
    (record.command || record.console) && make("p", { class: "note" }, record.command && code(record.command),
      record.console && ` ${record.console}`)));

const outcomes = new Map([["done", "good"], ["failed", "bad"], ["stopped", "warn"]]);

// Records of earlier versions, and of actions with an unknown result, have no outcome. Their mark states only that the
// action has ended.
function phase({ phase: word, verb, outcome }) {
  if (word === "before") return mark("busy", "begins");
  if (word !== "after") return null;
  if (verb === "refusal") return mark("bad", "refused");
  if (["login", "reveal", "stop"].includes(verb)) return mark("good", "done");
  return outcomes.has(outcome) ? mark(outcomes.get(outcome), outcome) : mark("silent", "ended");
}
