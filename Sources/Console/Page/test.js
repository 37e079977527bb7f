// The page Test: publishes one request, and opens its result.

import * as actions from "./actions.js";
import { remedyOf } from "./copy.js";
import { make } from "./dom.js";
import { failure, field, heading, note } from "./parts.js";
import { address, redraw } from "./router.js";
import { current, refusal } from "./session.js";

// The outcome of the last test push; null before it.
let last = null;

export function forget() {
  last = null;
}

export const page = {
  name: "test", title: "Test", uses: [],
  load: async () => ({}),
  draw() {
    const refused = refusal("operate");
    if (refused) return [heading("Test"), failure(refused.error, remedyOf(refused.remedy))];
    return [
      heading("Test"),
      note("Publishes one notification request to a request queue. At most 10 a minute."),
      last && make("div", { class: "quiet", key: "last" }, make("p", {}, last.result), found(last.result)),
      make("form", { class: "form panel", key: "form", onsubmit: submit },
        field("App", text("app", { placeholder: "com.example.app", pattern: "[A-Za-z0-9.\\-]+", maxlength: "200" }),
          "The bundle ID: letters, digits, dots and hyphens."),
        field("Device token", text("device_token", {
          placeholder: "00fc13ad…", pattern: "([0-9a-fA-F]{2}){1,200}", maxlength: "400",
        }), "Two hexadecimal digits for each byte."),
        field("Title", text("title", { maxlength: "200", value: "Test from Martlet" })),
        queueField(current()?.request_queues ?? []),
        make("div", { class: "buttons" }, make("button", { class: "main" }, "Test push…"))),
    ];
  },
};

const text = (name, attributes) => make("input", {
  type: "text", name, autocomplete: "off", spellcheck: "false", autocapitalize: "none", required: true, ...attributes,
});

// The broker routes requests to the only queue by itself.
const queueField = (queues) => queues.length > 1 && field("Request queue", make("select", { name: "queue" },
  queues.map((queue) => make("option", { value: queue }, queue))));

function submit(event) {
  event.preventDefault();
  const values = Object.fromEntries(new FormData(event.currentTarget));
  actions.open({
    action: "test_push", title: `Test push to ${values.app}`, confirm: "Publish", role: "operate", fields: [],
    arguments: values, isSecret: true,
    finished(outcome) {
      if (outcome.state === "done") last = outcome;
      redraw();
    },
  });
}

const idPattern = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;

// Returns a link to the request that a result names.
function found(result) {
  const id = result?.match(idPattern)?.[0];
  return id && current()?.history && make("p", {}, make("a", { href: address("find", "id", id) }, "Find its result"));
}
