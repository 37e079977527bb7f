// The page Dead letters: groups of dead letters with the same cause, and samples of one group.

import { call, query } from "./api.js";
import { commandLine } from "./copy.js";
import { make } from "./dom.js";
import { card, crumbs, facts, heading, historyIsOff, mark, nameOrDash, note, nothing } from "./parts.js";
import { address } from "./router.js";
import { current } from "./session.js";
import { sparkline } from "./sparkline.js";
import { table } from "./table.js";
import { agree, formatCount, moment, plural } from "./words.js";

export const page = {
  name: "dead", title: "Dead letters", uses: ["history", "queues"],
  async load([group]) {
    if (!current()?.history) return {};
    const [groups, samples] = await Promise.all([
      call("GET", "/api/dead/groups", undefined, { keeps: true }),
      group === undefined ? null : call("GET", `/api/dead/samples${query({ group })}`),
    ]);
    return { groups: groups.groups ?? [], inQueue: groups.in_queue, samples: samples?.samples ?? [] };
  },
  draw({ groups = [], inQueue, samples }, [wanted]) {
    if (!current()?.history) return [heading("Dead letters"), historyIsOff()];
    if (wanted !== undefined) return one(groups.find((group) => group.group === wanted), samples);
    const count = groups.reduce((sum, group) => sum + group.count, 0);
    if (groups.length === 0) {
      return [heading("Dead letters"), inQueue > 0
        ? nothing(`${plural(inQueue, "dead letter")} without a record in the history`,
          "They are older than the history. List them from the queue:",
          commandLine("martlet dead-letters list --config martlet.yaml"))
        : nothing("No dead letter", "Requests that no worker can push appear here, grouped by cause.")];
    }
    return [
      heading("Dead letters",
        Number.isFinite(inQueue) && make("span", { class: "note" }, `${formatCount(inQueue)} in the queue`)),
      table("Dead letters", columns, groups, (group) => group.group),
      difference(count, inQueue),
    ];
  },
};

function difference(count, inQueue) {
  if (!Number.isFinite(inQueue) || inQueue === count) return null;
  const more = Math.abs(inQueue - count);
  return note(plural(more, "dead letter"), inQueue > count
    ? ` of the queue ${agree(more, "is", "are")} not in the history.`
    : ` of the history ${agree(more, "has", "have")} left the queue.`);
}

const titleOf = (group) => [group.class, group.code].filter(Boolean).join(" ");

const columns = [
  { name: "Cause", sort: titleOf,
    cell: (group) => make("a", { href: address("dead", group.group) }, nameOrDash(titleOf(group))) },
  { name: "App", sort: (group) => group.app, cell: (group) => group.app ?? "–" },
  { name: "Path", cell: (group) => (group.path ? make("code", {}, group.path) : "–"), wide: true },
  { name: "Count", isNumber: true, sort: (group) => group.count, cell: (group) => formatCount(group.count) },
  { name: "Last 24 h", cell: (group) => sparkline(group.hours ?? []) },
  { name: "First", wide: true, sort: (group) => group.first_at,
    cell: (group) => moment(group.first_at, { seconds: false }) },
  { name: "Last", sort: (group) => group.last_at, cell: (group) => moment(group.last_at, { seconds: false }) },
];

function one(group, samples) {
  if (!group) {
    return [crumbs("Dead letters", "#/dead", "Group"), heading("Group of dead letters"),
      nothing("This group has no dead letter", "It was redriven or dropped, or is older than the history.")];
  }
  return [
    crumbs("Dead letters", "#/dead", titleOf(group)),
    heading(titleOf(group), mark("bad", plural(group.count, "dead letter"))),
    facts([["App", group.app], ["Path", group.path], ["First", moment(group.first_at)], ["Last", moment(group.last_at)],
      ["Last 24 h", sparkline(group.hours ?? [])]]),
    make("div", { class: "part", key: "redrive" }, make("h3", {}, "Redrive"),
      note("Fix the cause first. A dry run shows which dead letters match:"),
      group.code && commandLine(redrive(group))),
    make("div", { class: "part", key: "samples" }, make("h3", {}, "Samples"),
      samples.length > 0 ? make("ul", { class: "cards" }, samples.map(sampleCard))
        : note("No sample. Workers keep up to 5 samples a minute for each cause, unless journal.samples is false.")),
  ];
}

const quoted = (text) => JSON.stringify(text);
const shellWord = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function redrive({ code, app }) {
  const filter = [`code == ${quoted(code)}`, app && `app == ${quoted(app)}`].filter(Boolean).join(" && ");
  return `martlet dead-letters redrive --config martlet.yaml --where ${shellWord(filter)} --dry-run`;
}

const sampleCard = (sample, index) => card(`${sample.at} ${sample.id} ${index}`,
  make("div", { class: "card-head" },
    make("h4", {}, make("a", { href: address("find", "id", sample.id) }, nameOrDash(sample.id))),
    make("p", { class: "since" }, moment(sample.at))),
  make("p", { class: "note" }, [sample.app, sample.code].filter(Boolean).join(" · ")),
  sample.body && make("pre", {
    class: "sample", tabindex: "0", role: "region", "aria-label": `Body of ${sample.id}`,
  }, pretty(sample.body)),
  Object.keys(sample.headers ?? {}).length > 0 && make("details", {}, make("summary", {}, "Headers"),
    facts(Object.entries(sample.headers).map(([name, value]) => [name, String(value)]))));

// Returns JSON with line breaks, and other texts unchanged.
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
