// The list of episodes.

import { api } from "./api.js";
import { $, span } from "./dom.js";
import { page, stateOf } from "./state.js";

const SHOWN = { open: "begun" };

export function listed() {
  const [words, state] = [$("filter").value.trim().toLowerCase(), $("states").value];
  return page.rows.filter((row) => row.name.toLowerCase().includes(words) && (!state || stateOf(row) === state));
}

export async function refreshList() {
  try {
    const found = await api.episodes();
    Object.assign(page, { rows: found.episodes, path: found.path, proposedAuthor: found.author });
    drawList();
  } catch {
    $("progress").textContent = "the server does not answer";
  }
}

export function drawList() {
  const confirmed = page.rows.filter((row) => stateOf(row) === "confirmed").length;
  $("progress").textContent = `${confirmed} of ${page.rows.length} confirmed`;
  $("bar").value = page.rows.length ? confirmed / page.rows.length : 0;
  const list = $("episodes");
  const rows = listed();
  list.replaceChildren(
    ...rows.map((row) => {
      const item = document.createElement("li");
      const state = stateOf(row);
      const others = Object.entries(row.tracks).filter(([who, t]) => who !== page.author && t.state === "confirmed");
      item.title = row.problem || `${row.name}${others.length ? `, confirmed by ${others.map(([who]) => who).join(", ")}` : ""}`;
      item.dataset.key = row.key;
      if (row.key === page.key) item.setAttribute("aria-current", "true");
      item.append(span("called", row.name), span(`state ${state}`, (SHOWN[state] ?? state) + (others.length ? ` +${others.length}` : "")));
      return item;
    }),
  );
}
