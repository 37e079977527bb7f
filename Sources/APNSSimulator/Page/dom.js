// Elements of the page. All content is inserted as text. No function parses markup, and the server's policy forbids it.

const svgNamespace = "http://www.w3.org/2000/svg";

export const byID = (id) => document.getElementById(id);

// Creates an element. `content` is a text, an element, or a list of texts and elements. Null, undefined and false are
// ignored.
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

// Updates the children of `list` to match `items`, one element for each. Elements are reused by key, so the focus is
// kept. `build(item)` creates an element, `update(element, item)` changes an existing one.
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

// Moves an element and keeps the focus inside it.
function moveBefore(list, element, place) {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  list.insertBefore(element, place);
  if (focused && document.activeElement !== focused) focused.focus({ preventScroll: true });
}

// Removes an element. If it has the focus, moves the focus to a neighbor instead of the top of the page.
function removeKeepingFocus(list, element) {
  if (element.contains(document.activeElement)) {
    const neighbor = element.nextElementSibling ?? element.previousElementSibling;
    (neighbor?.querySelector("button") ?? list.closest("section"))?.focus({ preventScroll: true });
  }
  element.remove();
}

// Sets the text of an element if it differs. Avoids needless drawing and announcements of screen readers.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
