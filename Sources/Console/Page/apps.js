// The page Apps: the results of the last hour by app.

import { call } from "./api.js";
import { make } from "./dom.js";
import { field, heading, historyIsOff, mark, note, nothing } from "./parts.js";
import { redraw } from "./router.js";
import { current } from "./session.js";
import { table } from "./table.js";
import { countOrDash, formatShare, moment } from "./words.js";

// The shares of results above which the page marks an app.
const failureShareMax = 0.05;
const goneShareMax = 0.1;

let wanted = "";

export const page = {
  name: "apps", title: "Apps", uses: ["history"],
  load: async () => (current()?.history ? call("GET", "/api/apps", undefined, { keeps: true }) : {}),
  draw({ apps = [] }) {
    if (!current()?.history) return [heading("Apps"), historyIsOff()];
    if (apps.length === 0) {
      return [heading("Apps"), nothing("No result in the last hour",
        "Apps appear here after the first result.", make("a", { href: "#/test" }, "Publish a test request"))];
    }
    const listed = apps.filter((app) => app.app.toLowerCase().includes(wanted.trim().toLowerCase()));
    return [
      heading("Apps", make("span", { class: "note" }, "last hour")),
      make("div", { class: "filters", key: "filters" }, field("Filter", make("input", {
        type: "text", value: wanted, autocomplete: "off", spellcheck: "false", placeholder: "Part of a name",
        oninput: (event) => {
          wanted = event.currentTarget.value;
          redraw();
        },
      }))),
      listed.length > 0 ? table("Apps", columns, listed, (app) => app.app)
        : nothing("No app matches", "Change the filter to see other apps."),
      note("Gone: the share of device tokens that APNs answers with 410. Producers must remove them."),
    ];
  },
};

const columns = [
  { name: "App", sort: (app) => app.app, cell: (app) => app.app },
  { name: "State", cell: stateCell },
  { name: "Accepted", isNumber: true, sort: (app) => app.accepted, cell: (app) => countOrDash(app.accepted) },
  { name: "Refused", isNumber: true, sort: (app) => app.refused, cell: (app) => countOrDash(app.refused) },
  { name: "Failed", isNumber: true, sort: (app) => app.failed, cell: (app) => countOrDash(app.failed) },
  { name: "Gone", isNumber: true, sort: (app) => app.gone_share, cell: (app) => formatShare(app.gone_share) },
  { name: "Last accepted", sort: (app) => app.last_accepted_at, cell: (app) => moment(app.last_accepted_at) },
];

function stateCell(app) {
  const all = app.accepted + app.refused + app.failed;
  if (all > 0 && app.accepted === 0) return mark("bad", "none accepted");
  if (all > 0 && (app.refused + app.failed) / all > failureShareMax) {
    return mark("warn", `${formatShare((app.refused + app.failed) / all)} refused or failed`);
  }
  return app.gone_share > goneShareMax ? mark("warn", "many tokens gone") : mark("good", "ok");
}
