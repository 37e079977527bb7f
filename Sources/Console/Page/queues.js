// The page Queues.

import { call } from "./api.js";
import { commandLine } from "./copy.js";
import { make } from "./dom.js";
import { button, field, heading, mark, note, nothing } from "./parts.js";
import { redraw } from "./router.js";
import { commandOf, offers } from "./session.js";
import { table } from "./table.js";
import { replay } from "./waits.js";
import { countOrDash, plural, timeOfDay } from "./words.js";

// The number of queues above which the page has a filter.
const unfilteredMax = 12;

let wanted = "";

export const page = {
  name: "queues", title: "Queues", uses: ["queues"],
  load: () => call("GET", "/api/queues", undefined, { keeps: true }),
  draw({ queues, as_of: asOf }) {
    if (queues.length === 0) {
      return [heading("Queues"), nothing("No queue is known yet",
        "The console counts queues every 10 s. If the list stays empty, declare the topology:",
        commandLine(commandOf("topology_apply")))];
    }
    const text = wanted.trim().toLowerCase();
    const listed = queues.filter((queue) => queue.name.toLowerCase().includes(text) || queue.role?.includes(text));
    return [
      heading("Queues", asOf && make("span", { class: "note" }, `counted at ${timeOfDay(asOf)}`)),
      queues.length > unfilteredMax && make("div", { class: "filters", key: "filters" }, field("Filter", make("input", {
        type: "text", value: wanted, autocomplete: "off", spellcheck: "false", placeholder: "Name or role",
        oninput: (event) => {
          wanted = event.currentTarget.value;
          redraw();
        },
      }))),
      listed.length > 0 ? table("Queues", columns, listed, (queue) => queue.name)
        : nothing("No queue matches", "Change the filter to see other queues."),
      queues.some((queue) => unreported(queue) > 0) && note(
        "A consumer without a report belongs to a worker that is older than 0.2, without rights, or cut off."),
    ];
  },
};

const unreported = (queue) => (Number.isFinite(queue.consumers) && Number.isFinite(queue.reported_consumers)
  ? queue.consumers - queue.reported_consumers : 0);

const columns = [
  { name: "Queue", sort: (queue) => queue.name, cell: (queue) => make("code", {}, queue.name) },
  { name: "Role", sort: (queue) => queue.role, cell: (queue) => queue.role },
  { name: "Messages", isNumber: true, sort: (queue) => queue.messages, cell: (queue) => countOrDash(queue.messages) },
  { name: "Consumers", isNumber: true, sort: (queue) => queue.consumers,
    cell: (queue) => countOrDash(queue.consumers) },
  { name: "State", cell: stateCell },
];

function stateCell(queue) {
  if (queue.error) return mark("bad", queue.error);
  if (unreported(queue) > 0) return mark("warn", `${plural(unreported(queue), "consumer")} without a report`);
  if (queue.role === "requests" && queue.consumers === 0) return mark("bad", "no consumer");
  if (queue.role === "dead" && queue.messages > 0) return make("a", { href: "#/dead" }, mark("warn", "dead letters"));
  if (queue.role === "unrouted" && queue.messages > 0 && offers("replay")) {
    return make("span", { class: "buttons" }, mark("warn", "unrouted results"),
      button("Replay…", replay, { class: "small" }));
  }
  return mark("good", "ok");
}
