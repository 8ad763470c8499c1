// The keyframes of the episode that is open: changed, kept, drawn.

import { pictureAddress } from "./api.js";
import { $, span } from "./dom.js";
import { drawList } from "./list.js";
import { Refused, move } from "./marks.js";
import { drawWhere, show } from "./pictures.js";
import { name, page, timeline } from "./state.js";
import { attempt, say } from "./telling.js";
import { COLOURS } from "./timeline.js";

export function change(marks, action, state = "open") {
  page.steps.go(marks);
  commit(action, state);
}

export function commit(action, state) {
  if (page.state === "confirmed" && state === "open") say("no longer confirmed: c confirms it again");
  page.state = state;
  page.states.set(page.steps.now, state);
  marksChanged();
  return page.saver.save(state, bare(page.steps.now), action);
}

function bare(marks) {
  return marks.map(({ frame, phase, source, score }) => ({ frame, phase, source, score }));
}

export function marksChanged() {
  timeline.setMarks(page.steps.now);
  drawStrip();
  if (page.frame >= 0) drawWhere();
  $("confirm").textContent = page.state === "confirmed" ? "confirmed ✓" : "confirm";
  const row = page.rows.find((found) => found.key === page.key);
  if (row && page.state !== "untouched") {
    row.tracks[page.author] = { state: page.state, marks: page.steps.now.length };
    drawList();
  }
}

function drawStrip() {
  const { episode, key } = page;
  const items = page.steps.now.map((mark) => {
    const item = document.createElement("li");
    item.dataset.frame = mark.frame;
    item.style.borderTopColor = COLOURS[mark.phase % COLOURS.length];
    const picture = document.createElement("img");
    picture.src = pictureAddress(key, episode.views[0], mark.frame, episode.version);
    picture.alt = `frame ${mark.frame}`;
    const beyond = episode.labels.length && mark.phase >= episode.labels.length;
    item.append(picture, span(beyond ? "beyond" : "", `${mark.phase} ${name(mark.phase)}`), span("", `frame ${mark.frame}, ${mark.source}`));
    item.addEventListener("click", () => show(mark.frame));
    return item;
  });
  if (!items.length) {
    const empty = document.createElement("p");
    empty.textContent = "no keyframes yet: k sets one here, t takes all proposals of the chosen source";
    items.push(empty);
  }
  $("strip").replaceChildren(...items);
}

export function drag(from, to) {
  try {
    timeline.setMarks(move(page.steps.now, from, to));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
}

export function drop(from, to) {
  attempt(() => change(move(page.steps.now, from, to), `move ${from} to ${to}`));
  timeline.setMarks(page.steps.now);
}

export const markFrames = () => page.steps.now.map((mark) => mark.frame);
