// Lists that the console sends in pages, newest first.

import { APIError } from "./api.js";
import { make } from "./dom.js";
import { button } from "./parts.js";
import { redraw } from "./router.js";

// Maximum number of pages that the page keeps.
const pagesMax = 20;

// `fetchPage(before)` returns a page with the list `member` and the cursor `next`.
export function older(fetchPage, member) {
  let [pages, isLoading, problem, generation] = [[], false, null, 0];

  async function first() {
    const asked = generation;
    const page = await fetchPage(null);
    if (asked !== generation) return page;
    // The first page replaces the list unless older pages are shown: their cursors remain valid.
    if (pages.length <= 1) pages = [page];
    else pages = [{ ...pages[0], [member]: newestOf(page[member], pages[0][member]) }, ...pages.slice(1)];
    return page;
  }

  // Returns the records of a newer page, followed by those of an earlier page that it does not repeat.
  function newestOf(fresh, earlier) {
    const known = new Set(fresh.map((record) => JSON.stringify(record)));
    return fresh.concat(earlier.filter((record) => !known.has(JSON.stringify(record))));
  }

  async function more() {
    const asked = generation;
    [isLoading, problem] = [true, null];
    redraw();
    try {
      const page = await fetchPage(pages.at(-1).next);
      if (asked === generation) pages.push(page);
    } catch (error) {
      if (!(error instanceof APIError)) throw error;
      problem = error.message;
    } finally {
      isLoading = false;
      redraw();
    }
  }

  return {
    first,
    all: () => pages.flatMap((page) => page[member] ?? []),
    pages: () => pages,
    clear() {
      [pages, problem] = [[], null];
      generation += 1;
    },
    button: () => pages.at(-1)?.next && make("div", { class: "older", key: "older" },
      pages.length < pagesMax
        ? button(isLoading ? "Loading…" : "Show older", more, { disabled: isLoading })
        : make("p", { class: "note" }, "The page shows no more. Narrow the search to see older entries."),
      problem && make("p", { class: "failed" }, problem)),
  };
}
