// Updates a part of the page to match new content. Elements are reused, so that focus, selection and scrolling survive.

import { handlers } from "./dom.js";

// Attributes that the user or a control changes, and that an update keeps.
const isKept = (element, name) =>
  name === "open" || name === "data-outcome" || (name === "value" && element.nodeName === "INPUT");

// Makes the children of `element` match `content`: texts, elements, and nested lists of them. Null, undefined and false
// are ignored. Elements with the attribute `data-key` are matched by key, and others by place.
export function draw(element, ...content) {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const neighbors = focused ? neighborsOf(focused, element) : [];
  patchChildren(element, content.flat(Infinity).filter(isShown).map(asNode));
  if (!focused || focused === element || document.activeElement === focused) return;
  if (focused.isConnected) focused.focus({ preventScroll: true });
  else focusInstead(neighbors, element);
}

// The rows or cards around a focused element, the next one first.
function neighborsOf(focused, element) {
  const item = focused.closest("[data-key]");
  return item && element.contains(item) ? [item.nextElementSibling, item.previousElementSibling] : [];
}

// Moves the focus of a removed element to a neighbor instead of the top of the page.
function focusInstead(neighbors, element) {
  const neighbor = neighbors.find((other) => other?.isConnected);
  const target = neighbor?.querySelector("a, button") ?? element.closest("[tabindex]");
  target?.focus({ preventScroll: true });
}

const isShown = (piece) => piece !== undefined && piece !== null && piece !== false && piece !== "";

const asNode = (piece) => (piece instanceof Node ? piece : document.createTextNode(String(piece)));

function patchChildren(parent, fresh) {
  const wantedKeys = new Set(fresh.map(keyOf));
  const keyed = new Map();
  const unkeyed = [];
  for (const child of [...parent.childNodes]) {
    const key = keyOf(child);
    if (key === null) unkeyed.push(child);
    else if (wantedKeys.has(key) && !keyed.has(key)) keyed.set(key, child);
    else child.remove();
  }
  let place = parent.firstChild;
  const remove = (node) => {
    if (node === place) place = place.nextSibling;
    node.remove();
  };
  for (const wanted of fresh) {
    const present = take(wanted, keyed, unkeyed, remove);
    const node = present ?? wanted;
    if (present) patch(present, wanted);
    if (node === place) place = place.nextSibling;
    else parent.insertBefore(node, place);
  }
  for (const stale of [...keyed.values(), ...unkeyed]) stale.remove();
}

const keyOf = (node) => node.dataset?.key ?? null;

// Returns the present node that becomes `wanted`, or null without such a node. Removes the nodes without a key before
// it.
function take(wanted, keyed, unkeyed, remove) {
  const key = keyOf(wanted);
  if (key !== null) {
    const present = keyed.get(key);
    if (present?.nodeName !== wanted.nodeName) return null;
    keyed.delete(key);
    return present;
  }
  const index = unkeyed.findIndex((node) => node.nodeName === wanted.nodeName);
  if (index === -1) return null;
  const present = unkeyed[index];
  for (const skipped of unkeyed.splice(0, index + 1)) if (skipped !== present) remove(skipped);
  return present;
}

function patch(present, wanted) {
  if (present.nodeType === Node.TEXT_NODE) {
    if (present.data !== wanted.data) present.data = wanted.data;
    return;
  }
  for (const { name } of [...present.attributes]) {
    if (!wanted.hasAttribute(name) && !isKept(present, name)) present.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (present.getAttribute(name) !== value && !isKept(present, name)) present.setAttribute(name, value);
  }
  for (const handler of handlers) {
    if (present[handler] !== wanted[handler]) present[handler] = wanted[handler];
  }
  patchChildren(present, [...wanted.childNodes]);
}
