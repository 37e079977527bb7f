// Elements of the page. What a push says goes in as text: nothing here reads markup, and the server's policy forbids it.

const svgNamespace = "http://www.w3.org/2000/svg";

export const byID = (id) => document.getElementById(id);

// Makes an element. `content` is a text, an element, or a list of them; what is null, undefined or false is left out.
export function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  put(element, content);
  return element;
}

export function put(element, content) {
  for (const piece of [content].flat(Infinity)) {
    if (piece !== undefined && piece !== null && piece !== false && piece !== "") element.append(piece);
  }
}

export function icon(name) {
  const picture = document.createElementNS(svgNamespace, "svg");
  picture.setAttribute("class", "icon");
  picture.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(svgNamespace, "use");
  use.setAttribute("href", `#icon-${name}`);
  picture.append(use);
  return picture;
}

// Brings the children of `list` in line with `items`: one element for each, found again by its key, so that what has
// the focus keeps it. `build(item)` makes an element, `update(element, item)` changes one that is there.
export function reconcile(list, items, keyOf, build, update = () => {}) {
  const present = new Map();
  for (const child of list.children) present.set(child.dataset.key, child);
  let place = list.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    let element = present.get(key);
    if (element) {
      present.delete(key);
      update(element, item);
    } else {
      element = build(item);
      element.dataset.key = key;
    }
    if (element === place) place = place.nextElementSibling;
    else moveBefore(list, element, place);
  }
  for (const stale of present.values()) removeKeepingFocus(list, stale);
}

// Moves an element without taking the focus from what is in it.
function moveBefore(list, element, place) {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  list.insertBefore(element, place);
  if (focused && document.activeElement !== focused) focused.focus({ preventScroll: true });
}

// The focus goes to a neighbour rather than to the top of the page.
function removeKeepingFocus(list, element) {
  if (element.contains(document.activeElement)) {
    const neighbour = element.nextElementSibling ?? element.previousElementSibling;
    (neighbour?.querySelector("button") ?? list.closest("section"))?.focus({ preventScroll: true });
  }
  element.remove();
}

// Sets a text where it changed, so that nothing is drawn or read out anew without need.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
