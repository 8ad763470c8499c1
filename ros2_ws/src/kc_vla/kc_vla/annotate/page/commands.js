// What the keys and the buttons do.

import { $, pause } from "./dom.js";
import { change, commit, markFrames } from "./keyframes.js";
import { commandOf } from "./keys.js";
import * as model from "./marks.js";
import { showMore } from "./more.js";
import { KEPT_MS, neighbour, nextToDo } from "./opening.js";
import { play, show, stopPlaying } from "./pictures.js";
import { ask, drawLanes, proposalAt, proposalFrames } from "./proposals.js";
import { page, timeline } from "./state.js";
import { attempt, say } from "./telling.js";

function jump(frames, way) {
  const found = frames.filter((frame) => (way > 0 ? frame > page.wanted : frame < page.wanted));
  if (found.length) show(way > 0 ? Math.min(...found) : Math.max(...found));
}

export async function confirm() {
  if (page.state === "confirmed") return nextToDo();
  const { labels } = page.episode;
  const missing = labels.map((label, k) => k).filter((k) => !page.steps.now.some((mark) => mark.phase === k));
  const beyond = page.steps.now.filter((mark) => labels.length && mark.phase >= labels.length);
  const odd = `${page.key} ${page.steps.now.length} ${page.steps.now.at(-1)?.frame}`;
  if (!page.steps.now.length) throw new model.Refused("there are no keyframes to confirm");
  if (beyond.length) {
    const [{ phase, frame }] = beyond;
    const why = `the task's keyframes are 0 to ${labels.length - 1}, frame ${frame} is ${phase}`;
    throw new model.Refused(`${why}: a digit gives a keyframe its number, x deletes one`);
  }
  const last = page.steps.now.at(-1).phase;
  const gap = page.steps.now.find((mark, place) => mark.phase !== place);
  if (gap) {
    const lacks = labels.length ? missing.filter((k) => k < last).map((k) => `${k} ${labels[k]}`).join(", ") : page.steps.now.indexOf(gap);
    throw new model.Refused(`missing before frame ${gap.frame}: ${lacks}. What follows would be taken for it: mark it, or delete (x) what follows`);
  }
  if (missing.length && page.odd !== odd) {
    page.odd = odd;
    throw new model.Refused(`missing: ${missing.map((k) => `${k} ${labels[k]}`).join(", ")}. Confirm again if that is so`);
  }
  const { saver, key } = page;
  const kept = commit("confirm", "confirmed");
  page.opening = null; // what is pressed now is meant for the next episode
  await Promise.race([kept, pause(KEPT_MS)]);
  if (page.opening !== null) return;
  page.opening = key;
  await kept; // a server that is away is waited for, and meanwhile the episode can be changed again
  if (saver === page.saver && !saver.waiting && page.state === "confirmed") nextToDo();
}

export const COMMANDS = {
  step: () => show(page.wanted + 1),
  back: () => show(page.wanted - 1),
  step10: () => show(page.wanted + 10),
  back10: () => show(page.wanted - 10),
  first: () => show(0),
  last: () => show(page.episode.length - 1),
  play,
  nextProposal: () => jump(proposalFrames(), 1),
  previousProposal: () => jump(proposalFrames(), -1),
  nextMark: () => jump(markFrames(), 1),
  previousMark: () => jump(markFrames(), -1),
  set: () => {
    const proposal = proposalAt(page.wanted);
    change(model.set(page.steps.now, page.wanted, proposal?.source, proposal?.score), `set ${page.wanted}`);
  },
  remove: () => change(model.remove(page.steps.now, page.wanted), `delete ${page.wanted}`),
  move: () => {
    const nearest = model.nearestMark(page.steps.now.filter((mark) => mark.frame > 0), page.wanted);
    if (!nearest) throw new model.Refused("there is no keyframe to move");
    change(model.move(page.steps.now, nearest.frame, page.wanted), `move ${nearest.frame} to ${page.wanted}`);
  },
  phase: (phase) => {
    const { labels } = page.episode;
    if (labels.length && phase >= labels.length) throw new model.Refused(`the task's keyframes are 0 to ${labels.length - 1}`);
    change(model.label(page.steps.now, page.wanted, phase), `phase ${phase} at ${page.wanted}`);
  },
  askRules: () => ask("rules"),
  askLearned: () => ask("learned"),
  askEvents: () => ask("events"),
  nextSource: () => {
    const sources = Object.keys(page.proposals);
    if (!sources.length) throw new model.Refused("there are no proposals: ask the rules, the learned selector or for events");
    page.source = sources[(sources.indexOf(page.source) + 1) % sources.length];
    say(`proposals: ${page.source}`);
    drawLanes();
  },
  takeAll: () => {
    if (!proposalFrames().length) throw new model.Refused("there are no proposals: ask the rules, the learned selector or for events");
    change(model.take(page.proposals[page.source]), `take ${page.source}`);
  },
  undo: () => {
    page.steps.undo();
    commit("undo", page.states.get(page.steps.now) ?? "open");
  },
  redo: () => {
    page.steps.redo();
    commit("redo", page.states.get(page.steps.now) ?? "open");
  },
  confirm,
  reopen: () => {
    if (page.state !== "confirmed") throw new model.Refused("it is not confirmed");
    commit("reopen", "open");
  },
  nextEpisode: () => neighbour(1),
  previousEpisode: () => neighbour(-1),
  zoomIn: () => timeline.zoom(0.6),
  zoomOut: () => timeline.zoom(1 / 0.6),
  fit: () => timeline.fit(),
  more: showMore,
  filter: () => $("filter").focus(),
  help: () => $("keys").showModal(),
};

const WHILE_OPENING = ["filter", "help", "nextEpisode", "previousEpisode"];

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  if (event.target.matches?.("input, select")) {
    if (event.key === "Escape" || event.key === "Enter") event.target.blur();
    return;
  }
  if (event.target.matches?.("button") && (event.key === "Enter" || event.key === " ")) return;
  const [command, ...given] = commandOf(event) ?? [];
  if (!command || (!page.episode && !WHILE_OPENING.includes(command))) return;
  event.preventDefault();
  if (command !== "play") stopPlaying();
  attempt(() => COMMANDS[command](...given), WHILE_OPENING.includes(command));
});
