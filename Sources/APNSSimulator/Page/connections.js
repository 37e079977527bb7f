// The open connections, with the number and the limit of their streams.

import { call } from "./api.js";
import { byID, make, reconcile, setText } from "./dom.js";
import { attempt } from "./outcome.js";
import { formatCount, plural, timeOfDay } from "./words.js";

const shownMax = 100;
const failuresMax = 5;

export function draw(connections, failures) {
  drawFailures(failures);
  byID("connections-nothing").hidden = connections.length > 0;
  byID("connections-more").hidden = connections.length <= shownMax;
  setText(byID("connections-more"), `${formatCount(connections.length - shownMax)} more are not listed.`);
  const newest = connections.toSorted((left, right) => right.number - left.number).slice(0, shownMax);
  reconcile(byID("connection-list"), newest, (connection) => connection.number, build, update);
}

function drawFailures(failures) {
  byID("failures").hidden = failures.length === 0;
  reconcile(byID("failure-list"), failures.toReversed().slice(0, failuresMax), (failure) => failure.number, (failure) =>
    make("li", {}, make("time", {}, timeOfDay(failure.unix_ms)), " ", make("strong", {}, `Connection ${failure.number}`),
      make("p", { class: "about" }, failure.error)));
}

function build(connection) {
  const name = `connection ${connection.number}`;
  const goAway = button("GOAWAY", `Send GOAWAY to ${name}`, connection.number, "goaway", `GOAWAY sent to ${name}.`);
  const reset = button("Reset", `Reset ${name}`, connection.number, "reset_connection", `Reset ${name}.`);
  const element = make("li", {},
    make("p", { class: "name" }, make("strong", {}, `Connection ${connection.number}`), " ",
      make("span", { class: "place" })),
    make("div", { class: "streams" }, make("span", { class: "gauge" }, make("span", { class: "filled" })),
      make("span", { class: "count" })),
    make("p", { class: "about" }),
    make("div", { class: "buttons" }, goAway, reset));
  update(element, connection);
  return element;
}

function button(text, label, number, action, done) {
  const element = make("button", { type: "button", class: action === "goaway" ? "small" : "small grave", "aria-label": label }, text);
  element.addEventListener("click", () => attempt(byID("connection-outcome"), async () => {
    await call("POST", "/v1/actions", { action, connection: number });
    return done;
  }));
  return element;
}

function update(element, connection) {
  const open = connection.streams_open ?? 0;
  const limit = connection.streams_max ?? null;
  setText(element.querySelector(".place"), [connection.environment, connection.service].filter(Boolean).join(", "));
  element.querySelector(".filled").style.setProperty("inline-size", limit ? `${Math.min(open / limit, 1) * 100}%` : "0");
  setText(element.querySelector(".count"),
    limit === null ? plural(open, "stream") : `${formatCount(open)} of ${plural(limit, "stream")}`);
  const pieces = [
    plural(connection.requests ?? 0, "request"),
    connection.errors ? plural(connection.errors, "error") : null,
    connection.key_id ? `key ${connection.key_id} of ${connection.team_id}` : connection.team_id ? `team ${connection.team_id}` : null,
    connection.since_unix_ms ? `since ${timeOfDay(connection.since_unix_ms)}` : null,
  ];
  setText(element.querySelector(".about"), pieces.filter(Boolean).join(" · "));
}
