// The page begins here: ties its parts together and opens the first episode.

import { COMMANDS, confirm } from "./commands.js";
import { $ } from "./dom.js";
import { drag, drop } from "./keyframes.js";
import { KEYS } from "./keys.js";
import { drawList, refreshList } from "./list.js";
import { open } from "./opening.js";
import { show } from "./pictures.js";
import { ask, SOURCES } from "./proposals.js";
import { page, stateOf, timeline } from "./state.js";
import { answer, attempt } from "./telling.js";

const LIST_MS = 3000;

async function askAuthor() {
  $("whoname").value = page.author || page.proposedAuthor;
  const answered = answer($("who"));
  $("whoname").select();
  await answered;
  const given = $("whoname").value.trim();
  if (!given) return askAuthor();
  localStorage.setItem("kc_vla author", given);
  page.author = given;
  $("author").textContent = given;
}

function drawKeys() {
  for (const [, first, second, does] of KEYS) {
    const key = document.createElement("dt");
    key.textContent = second ? `${first}  ${second}` : first;
    const text = document.createElement("dd");
    text.textContent = does;
    $("keylist").append(key, text);
  }
}

async function begin() {
  drawKeys();
  Object.assign(timeline.on, { seek: show, drag, drop });
  $("episodes").addEventListener("click", (event) => {
    const item = event.target.closest("li");
    if (item) open(item.dataset.key);
  });
  $("filter").addEventListener("input", drawList);
  $("states").addEventListener("change", drawList);
  $("help").addEventListener("click", () => COMMANDS.help());
  for (const source of SOURCES) $(source).addEventListener("click", () => ask(source));
  $("confirm").addEventListener("click", () => attempt(confirm));
  $("author").addEventListener("click", async () => {
    await askAuthor();
    await refreshList();
    if (page.key !== null) await open(page.key, page.frame);
  });
  await refreshList();
  page.author = localStorage.getItem("kc_vla author") ?? "";
  if (!page.author) await askAuthor();
  $("author").textContent = page.author;
  drawList();
  const named = location.hash.slice(1);
  const first = page.rows.find((row) => row.key === named) ?? page.rows.find((row) => stateOf(row) !== "confirmed") ?? page.rows[0];
  if (first) await open(first.key);
  setInterval(refreshList, LIST_MS);
}

window.addEventListener("beforeunload", (event) => {
  if (page.saver?.waiting) event.preventDefault();
});

begin();
