// The history of an episode, and how far people agree on it.

import { api } from "./api.js";
import { $ } from "./dom.js";
import { name, page } from "./state.js";

export async function showMore() {
  const fill = (id, heads, rows) => {
    const line = (cells, kind) => {
      const row = document.createElement("tr");
      row.append(...cells.map((cell) => Object.assign(document.createElement(kind), { textContent: cell })));
      return row;
    };
    $(id).replaceChildren(line(heads, "th"), ...rows.map((cells) => line(cells, "td")));
  };
  const agree = async () => {
    const pairs = await api.agreement(page.key, Number($("within").value) || 0);
    const rows = pairs.map((pair) => [
      pair.authors.join(" and "),
      `${Math.round(100 * pair.share)} %`,
      pair.apart.map(name).join(", ") || "none",
      pair.only.map(name).join(", ") || "none",
      `${pair.furthest} frames`,
    ]);
    fill("agreement", ["who", "agree", "further apart", "only one has", "furthest"], rows.length ? rows : [["nobody else yet"]]);
  };
  const rows = await api.history(page.key);
  fill("history", ["when (UTC)", "who", "what", "keyframes"], rows.reverse().map((row) => [
    row.time.slice(0, 19).replace("T", " "),
    row.author,
    row.action + (row.state === "confirmed" ? " (confirmed)" : ""),
    row.marks.map((mark) => mark.frame).join(" "),
  ]));
  await agree();
  $("within").onchange = agree;
  $("more").showModal();
}
