// The pictures of the frame that is looked at, and playing.

import { $ } from "./dom.js";
import { markAt } from "./marks.js";
import { name, page, timeline } from "./state.js";
import { say } from "./telling.js";

// A frame for each view of the episode, side by side.
export function hang(views) {
  const wall = document.querySelector(".views");
  const figures = views.map((view) => {
    const figure = document.createElement("figure");
    const canvas = document.createElement("canvas");
    const caption = document.createElement("figcaption");
    canvas.id = canvasOf(view);
    caption.textContent = view.replaceAll("_", " ");
    figure.append(canvas, caption);
    return figure;
  });
  wall.replaceChildren(...figures);
}

const canvasOf = (view) => `view-${view}`;

export async function show(frame) {
  if (!page.episode) return;
  const wanted = Math.min(page.episode.length - 1, Math.max(0, frame));
  page.wanted = wanted;
  if (wanted === page.frame) return;
  const frames = page.frames;
  try {
    const pair = frames.get(wanted) ? (frames.want(wanted), frames.get(wanted)) : await frames.want(wanted);
    // A frame that came late is still shown on the way to the one that is wanted now.
    if (frames === page.frames && Math.abs(wanted - page.wanted) <= Math.abs(page.frame - page.wanted)) paint(wanted, pair);
  } catch (error) {
    if (error.name === "AbortError" || frames !== page.frames) return;
    if (page.wanted === wanted) page.wanted = Math.max(0, page.frame); // nobody marks what cannot be seen
    say(`frame ${wanted} cannot be shown: ${error.message}`);
  }
}

function paint(frame, pair) {
  page.frame = frame;
  page.frames.views.forEach((view, k) => {
    const canvas = $(canvasOf(view));
    const bitmap = pair[k];
    if (bitmap && (canvas.width !== bitmap.width || canvas.height !== bitmap.height)) {
      [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
    }
    const pen = canvas.getContext("2d");
    if (bitmap) pen.drawImage(bitmap, 0, 0);
    else pen.clearRect(0, 0, canvas.width, canvas.height);
  });
  timeline.show(frame);
  drawWhere();
  requestAnimationFrame(() => {
    const channel = new MessageChannel(); // its message comes after the frame was painted
    channel.port1.onmessage = () => document.dispatchEvent(new CustomEvent("painted", { detail: { frame } }));
    channel.port2.postMessage(null);
  });
}

export function drawWhere() {
  const { episode, frame } = page;
  const mark = markAt(page.steps.now, frame);
  const here = mark ? ` · ${mark.phase} ${name(mark.phase)}` : "";
  $("where").textContent = `frame ${frame} of ${episode.length} · ${episode.times[frame].toFixed(2)} s${here}`;
  for (const item of $("strip").querySelectorAll("li")) {
    item.setAttribute("aria-current", String(Number(item.dataset.frame) === frame));
  }
}

export function stopPlaying() {
  clearTimeout(page.playing);
  page.playing = 0;
}

export function play() {
  if (page.playing) return stopPlaying();
  const go = async () => {
    const { frame, episode } = page;
    if (frame >= episode.length - 1) return stopPlaying();
    const begun = performance.now();
    await show(frame + 1);
    const due = 1000 * (episode.times[page.frame] - episode.times[frame]) - (performance.now() - begun);
    if (page.playing) page.playing = setTimeout(go, Math.min(1000, Math.max(0, due)));
  };
  page.playing = setTimeout(go, 0);
}
