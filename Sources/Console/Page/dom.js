// Elements of the page. All content is inserted as text. No function parses markup, and the server's policy forbids it.

const svgNamespace = "http://www.w3.org/2000/svg";

// The event handlers that `make` accepts. They are properties, because the server's policy forbids such attributes.
export const handlers = ["onclick", "oninput", "onchange", "onsubmit"];

export const byID = (id) => document.getElementById(id);

// Creates an element. `content` is a text, an element, or a list of texts and elements. Null, undefined and false are
// ignored. The attribute `key` identifies the element among its neighbors in `draw`.
export function make(tag, attributes = {}, ...content) {
  return fill(document.createElement(tag), attributes, content);
}

// Creates an SVG element.
export function makeSVG(tag, attributes = {}, ...content) {
  return fill(document.createElementNS(svgNamespace, tag), attributes, content);
}

function fill(element, attributes, content) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (handlers.includes(name)) element[name] = value;
    else element.setAttribute(name === "key" ? "data-key" : name, value === true ? "" : String(value));
  }
  for (const piece of content.flat(Infinity)) {
    if (piece !== undefined && piece !== null && piece !== false && piece !== "") element.append(piece);
  }
  return element;
}

export const icon = (name) =>
  makeSVG("svg", { class: "icon", "aria-hidden": "true" }, makeSVG("use", { href: `#icon-${name}` }));

// Sets the text of an element if it differs. Avoids needless drawing and announcements of screen readers.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Sets or removes an attribute.
export function setAttribute(element, name, value) {
  if (value === null || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}
