// The page Dead letters: groups of dead letters with the same cause, and samples of one group.

import { call, query } from "./api.js";
import { make } from "./dom.js";
import { button, code, crumbs, facts, field, heading, historyIsOff, mark, nameOrDash, note, nothing, roleNote }
  from "./parts.js";
import * as redrives from "./redrive.js";
import { address, go, redraw } from "./router.js";
import { drop, sampleCards } from "./samples.js";
import { commandOf, current, offers } from "./session.js";
import { sparkline } from "./sparkline.js";
import { table } from "./table.js";
import { wizard } from "./wizard.js";
import { agree, formatCount, moment, plural } from "./words.js";

// The number of groups above which the page has a filter.
const unfilteredMax = 12;

let wanted = "";

export const page = {
  name: "dead", title: "Dead letters", uses: ["history", "queues"],
  async load([group, step]) {
    if (!current()?.history) return {};
    redrives.watch();
    const [groups, samples] = await Promise.all([
      call("GET", "/api/dead/groups", undefined, { keeps: true }),
      group === undefined || step !== undefined ? null : call("GET", `/api/dead/samples${query({ group })}`),
    ]);
    return { groups: groups.groups ?? [], inQueue: groups.in_queue, samples: samples?.samples ?? [] };
  },
  draw({ groups = [], inQueue, samples }, [id, step]) {
    if (!current()?.history) return [heading("Dead letters"), historyIsOff()];
    const group = groups.find((other) => other.group === id) ?? null;
    if (step === "redrive") {
      return wizard(id, group, group ? titleOf(group) : redrives.titleOf(id) ?? "Group");
    }
    if (id !== undefined) return one(group, samples);
    const count = groups.reduce((sum, { count: some }) => sum + some, 0);
    if (groups.length === 0) {
      return [heading("Dead letters"), inQueue > 0
        ? nothing(`${plural(inQueue, "dead letter")} without a record in the history`,
          make("p", {}, "They are older than the history. List them from the queue with ",
            code(commandOf("dead_letters_list")), "."))
        : nothing("No dead letter", "Requests that no worker can push appear here, grouped by cause.")];
    }
    const text = wanted.trim().toLowerCase();
    const listed = groups.filter((other) => [titleOf(other), other.app, other.path].some((name) =>
      name?.toLowerCase().includes(text)));
    return [
      heading("Dead letters",
        Number.isFinite(inQueue) && make("span", { class: "note" }, `${formatCount(inQueue)} in the queue`)),
      groups.length > unfilteredMax && filter(),
      listed.length > 0 ? table("Dead letters", columns(), listed, (other) => other.group)
        : nothing("No group matches", "Change the filter to see other groups."),
      difference(count, inQueue),
      roleNote("operate"),
    ];
  },
};

const filter = () => make("div", { class: "filters", key: "filters" }, field("Filter", make("input", {
  type: "text", value: wanted, autocomplete: "off", spellcheck: "false", placeholder: "Cause, app or path",
  oninput: (event) => {
    wanted = event.currentTarget.value;
    redraw();
  },
})));

function difference(count, inQueue) {
  if (!Number.isFinite(inQueue) || inQueue === count) return null;
  const more = Math.abs(inQueue - count);
  return note(plural(more, "dead letter"), inQueue > count
    ? ` of the queue ${agree(more, "is", "are")} not in the history.`
    : ` of the history ${agree(more, "has", "have")} left the queue.`);
}

// The cause as the log of a worker names it, such as `schema.enum`.
const titleOf = (group) => [group.class, group.code].filter(Boolean).join(".");

// The title with the app and the path, which distinguish groups of one cause.
const nameOf = (group) => [titleOf(group), group.app, group.path].filter(Boolean).join(", ");

const columns = () => [
  { name: "Cause", sort: titleOf,
    cell: (group) => make("a", { href: address("dead", group.group) }, nameOrDash(titleOf(group))) },
  { name: "App", sort: (group) => group.app, cell: (group) => group.app ?? "–" },
  { name: "Path", cell: (group) => (group.path ? make("code", {}, group.path) : "–") },
  { name: "Count", isNumber: true, isFirst: true, sort: (group) => group.count,
    cell: (group) => formatCount(group.count) },
  { name: "Last 24 h", wide: true, cell: (group) => sparkline(group.hours ?? []) },
  { name: "First", wide: true, sort: (group) => group.first_at,
    cell: (group) => moment(group.first_at, { seconds: false }) },
  { name: "Last", sort: (group) => group.last_at,
    cell: (group) => make("time", {}, moment(group.last_at, { seconds: false })) },
  ...(offers("redrive") ? [{ name: "Actions", cell: (group) => redriveButton(group, { class: "small" }) }] : []),
];

const redriveButton = (group, attributes) => button("Redrive…", () => go("dead", group.group, "redrive"),
  { ...attributes, "aria-label": `Redrive ${nameOf(group)}` });

function one(group, samples) {
  if (!group) {
    return [crumbs("Dead letters", "#/dead", "Group"), heading("Group of dead letters"),
      nothing("This group has no dead letter", "It was redriven or dropped, or is older than the history.")];
  }
  return [
    crumbs("Dead letters", "#/dead", titleOf(group)),
    heading(titleOf(group), mark("bad", plural(group.count, "dead letter")),
      offers("redrive") && redriveButton(group, { class: "main" }),
      offers("drop", "admin") && button("Drop…", () => drop(group.where, titleOf(group)),
        { "aria-label": `Drop ${nameOf(group)}` })),
    facts([["App", group.app], ["Path", group.path], ["First", moment(group.first_at)], ["Last", moment(group.last_at)],
      ["Last 24 h", sparkline(group.hours ?? [])]]),
    roleNote("operate"),
    make("div", { class: "part", key: "samples" }, make("h3", {}, "Samples"),
      samples.length > 0 ? sampleCards(group, samples)
        : note("No sample. Workers keep up to 5 samples a minute for each cause, unless journal.samples is false.")),
  ];
}
