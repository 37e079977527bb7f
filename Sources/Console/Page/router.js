// The address of the shown page: a fragment such as `#/workers/w1`. The first part is the page, and the others are its
// arguments.

let redrawPage = () => {};
let reloadPage = () => {};

// `redraw()` draws the page from its data, and `reload()` reads the data again.
export function start(redraw, reload) {
  [redrawPage, reloadPage] = [redraw, reload];
}

export const redraw = () => redrawPage();

export const reload = () => reloadPage();

// Returns the page's name and its arguments.
export function route() {
  const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  return { name, parts: rest.map(decoded) };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// Returns the fragment of a page.
export const address = (name, ...parts) => `#/${[name, ...parts.map(encodeURIComponent)].join("/")}`;

export function go(name, ...parts) {
  location.hash = address(name, ...parts);
}
