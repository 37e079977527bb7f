// The keyboard: `/` finds, `g` and a letter open a page, `j` and `k` move, `?` explains. No key acts.

import { byID, make } from "./dom.js";
import { draw } from "./draw.js";
import { go } from "./router.js";

const sequenceMilliseconds = 1500;
const storageKey = "martlet-keys-off";

const letters = new Map([
  ["n", "now"], ["f", "find"], ["a", "apps"], ["d", "dead"], ["q", "queues"], ["w", "workers"], ["k", "keys"],
  ["t", "test"], ["u", "audit"],
]);

let sequenceStart = -Infinity;
let find = () => {};

const isOff = () => localStorage.getItem(storageKey) !== null;

// `pages`: the pages with their names and titles. `focusFind()` opens the search.
export function start(pages, focusFind) {
  find = focusFind;
  addEventListener("keydown", press);
  const titles = new Map(pages.map(({ name, title }) => [name, title]));
  draw(byID("help-keys"), [
    ["/", "Find a request"], ...[...letters].map(([letter, name]) => [`g ${letter}`, titles.get(name)]),
    ["j", "Next row or card"], ["k", "Previous row or card"], ["?", "This help"], ["Esc", "Close a dialog"],
  ].map(([keys, text]) => make("li", {}, make("span", { class: "combination" },
    keys.split(" ").map((key) => make("kbd", {}, key))), text)));
  byID("help-on").checked = !isOff();
  byID("help-on").addEventListener("change", (event) => {
    if (event.currentTarget.checked) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, "1");
  });
  byID("help-button").addEventListener("click", showHelp);
  byID("help-close").addEventListener("click", () => byID("help").close());
}

function showHelp() {
  if (!byID("help").open) byID("help").showModal();
}

const isTyping = (target) => target.closest?.("input:not([type=checkbox]), textarea, select, dialog") !== null;

function press(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || isOff() || isTyping(event.target)) return;
  if (byID("app").hidden) return;
  const isSequence = event.timeStamp - sequenceStart < sequenceMilliseconds;
  sequenceStart = -Infinity;
  if (isSequence && letters.has(event.key)) {
    event.preventDefault();
    go(letters.get(event.key));
  } else if (event.key === "g") sequenceStart = event.timeStamp;
  else if (event.key === "/") {
    event.preventDefault();
    find();
  } else if (event.key === "?") showHelp();
  else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
}

// Moves the focus to the next or previous row or card.
function move(step) {
  const items = [...document.querySelectorAll("#page [data-item]")];
  if (items.length === 0) return;
  const at = items.findIndex((item) => item.contains(document.activeElement));
  const index = at === -1 ? (step > 0 ? 0 : items.length - 1) : Math.min(Math.max(at + step, 0), items.length - 1);
  const target = items[index].querySelector("a") ?? items[index];
  target.focus({ preventScroll: true });
  items[index].scrollIntoView({ block: "nearest" });
}
