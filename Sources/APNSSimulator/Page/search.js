// A search field with suggestions, in place of a menu that would be too long.

import { make, reconcile } from "./dom.js";

// `list`: the field's datalist.
export function suggest(list, names) {
  reconcile(list, names, (name) => name, (name) => make("option", { value: name }));
}

// Returns whether an addressee, by its key and name, fits a text: a suggested name means one addressee, another text all
// whose names contain it. `suggested`: the suggested name of each by its key.
export function finder(text, suggested) {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return () => true;
  const one = [...suggested].find(([, name]) => name.toLowerCase() === wanted);
  return one ? (key) => key === one[0] : (key, name) => name.toLowerCase().includes(wanted);
}
