// The teams' keys, with buttons that revoke and restore them.

import { call } from "./api.js";
import { byID, make, reconcile, setText } from "./dom.js";
import { change, more, shownMax } from "./world.js";

export function draw(teams) {
  const keys = teams.flatMap((team) => team.keys.map((key) => ({ ...key, team: team.id })));
  byID("keys-nothing").hidden = keys.length > 0;
  more("keys-more", keys.length - shownMax);
  reconcile(byID("key-list"), keys.slice(0, shownMax), (key) => `${key.team} ${key.id}`, build, update);
}

function build(key) {
  const button = make("button", { type: "button", class: "small" });
  button.addEventListener("click", () => change("key-outcome", async () => {
    const revoked = button.dataset.revoked !== "true";
    await call("PUT", `/v1/teams/${encodeURIComponent(key.team)}/keys/${encodeURIComponent(key.id)}`, { revoked });
    return `Key ${key.id} ${revoked ? "revoked" : "restored"}.`;
  }));
  const element = make("li", {}, make("code", {}, key.id), make("span", { class: "tag warn" }, "revoked"), button,
    make("p", { class: "about" }));
  update(element, key);
  return element;
}

function update(element, key) {
  const button = element.querySelector("button");
  const label = key.revoked ? "Restore" : "Revoke";
  button.dataset.revoked = String(key.revoked);
  button.setAttribute("aria-label", `${label} key ${key.id}`);
  button.classList.toggle("grave", !key.revoked);
  setText(button, label);
  element.querySelector(".tag").hidden = !key.revoked;
  const scope = key.topics ? `for ${key.topics.join(", ")}` : null;
  setText(element.querySelector(".about"), [`team ${key.team}`, key.environments.join(", "), scope].filter(Boolean).join(" · "));
}
