// A search field with suggestions, for lists that are too long for a menu.

import { make, reconcile } from "./dom.js";

// `list`: the field's datalist.
export function suggest(list, names) {
  reconcile(list, names, (name) => name, (name) => make("option", { value: name }));
}

// Returns a predicate on the key and the name of an addressee. A suggested name selects its addressee. Any other text
// selects all addressees whose names contain the text. `suggested`: the suggested names by key.
export function finder(text, suggested) {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return () => true;
  const one = [...suggested].find(([, name]) => name.toLowerCase() === wanted);
  return one ? (key) => key === one[0] : (key, name) => name.toLowerCase().includes(wanted);
}
