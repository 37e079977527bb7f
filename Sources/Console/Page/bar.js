// The bar below the header: the actions that run while their views are closed.

import { byID, make } from "./dom.js";
import { draw } from "./draw.js";
import { progressText } from "./outcome.js";
import { button, mark } from "./parts.js";

let sources = [];

// Each source returns a running action with the member `show()`, or null.
export function start(list) {
  sources = list;
}

export function update() {
  const running = sources.map((source) => source()).filter(Boolean);
  byID("running").hidden = running.length === 0;
  draw(byID("running"), running.map(({ title, action, show }) => make("span", { class: "buttons", key: title },
    mark("busy", `${title}: ${progressText(action)}`), button("Show", show, { class: "small" }))));
}
