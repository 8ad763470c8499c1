// An episode is opened, with what was marked in it before; the next one is found.

import { api } from "./api.js";
import { $, pause } from "./dom.js";
import { Frames } from "./frames.js";
import { marksChanged } from "./keyframes.js";
import { drawList, listed } from "./list.js";
import { Steps } from "./marks.js";
import { hang, show, stopPlaying } from "./pictures.js";
import { follow } from "./proposals.js";
import { Saver } from "./saver.js";
import { page, stateOf, timeline } from "./state.js";
import { answer, say, told } from "./telling.js";

export const KEPT_MS = 500;

export async function open(key, frame = 0) {
  page.opening = key;
  stopPlaying();
  say("");
  if (page.saver) await Promise.race([page.saver.send(), pause(KEPT_MS)]);
  let episode;
  try {
    episode = await api.episode(key);
  } catch (error) {
    if (page.opening === key) page.opening = page.key;
    say(error.message);
    return;
  }
  if (page.opening !== key) return;
  say("");
  page.saver?.stop();
  page.frames?.close();
  const track = episode.tracks[page.author];
  Object.assign(page, { key, episode, proposals: {}, problems: {}, source: "", state: track?.state ?? "untouched" });
  page.steps = new Steps(track?.marks ?? []);
  page.states = new WeakMap([[page.steps.now, page.state]]);
  page.saver = new Saver(page.path, key, page.author, track?.revision ?? 0, told, conflict, restore);
  page.frames = new Frames(key, episode.length, episode.views, episode.version);
  history.replaceState(null, "", `#${key}`);
  $("name").textContent = episode.name;
  $("instruction").textContent = [episode.task || "unknown task", episode.instruction, ...episode.damages].filter(Boolean).join(" · ");
  hang(episode.views);
  told(track ? `saved, revision ${track.revision}` : "", false);
  timeline.open(episode.length, episode.times);
  page.frame = -1; // the frame of the last episode says nothing in this one, which may be shorter
  await takeUpUnsaved(track?.revision ?? 0);
  marksChanged();
  drawList();
  document.querySelector("#episodes [aria-current]")?.scrollIntoView({ block: "nearest" });
  await show(frame);
  follow(key);
}

// What this browser had not yet told the server when it was closed.
async function takeUpUnsaved(revision) {
  const left = page.saver.left();
  if (!left) return;
  const mine = left.since === revision || (await conflict(page.episode.tracks[page.author])) === "mine";
  if (!mine) return page.saver.done();
  page.steps = new Steps(left.marks);
  page.state = left.state;
  page.states.set(page.steps.now, page.state);
  page.saver.save(left.state, left.marks, left.action);
}

async function conflict(track) {
  $("conflicttext").textContent =
    `${page.author} has changed this annotation in another window (${track.action}, revision ${track.revision}, ` +
    `${track.marks.length} keyframes). It is in the history either way.`;
  return (await answer($("conflict"))) || "theirs";
}

function restore(track) {
  page.steps.go(track.marks);
  page.state = track.state;
  page.states.set(page.steps.now, page.state);
  marksChanged();
  told(`saved, revision ${track.revision}`, false);
}

export function neighbour(way, wanted = () => true) {
  const rows = listed();
  const at = rows.findIndex((row) => row.key === page.opening);
  const order = way > 0 ? [...rows.slice(at + 1), ...rows.slice(0, Math.max(0, at))] : rows.slice(0, Math.max(0, at)).reverse();
  const next = order.find((row) => wanted(row) && stateOf(row) !== "unreadable");
  if (next) open(next.key);
  else say(way > 0 ? "there is no other episode to do" : "this is the first episode");
}

export const nextToDo = () => neighbour(1, (row) => stateOf(row) !== "confirmed");
