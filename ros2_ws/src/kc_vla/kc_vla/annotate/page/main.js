// The page: ties pictures, timeline, keyframes and server together.

import { api, pictureAddress } from "./api.js";
import { Frames } from "./frames.js";
import { KEYS, commandOf } from "./keys.js";
import * as model from "./marks.js";
import { Saver } from "./saver.js";
import { COLOURS, Timeline } from "./timeline.js";

const VIEWS = ["third_person", "wrist"];
const LIST_MS = 3000;
const POLL_MS = 500;
const KEPT_MS = 500;
const $ = (id) => document.getElementById(id);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const page = {
  path: "",
  rows: [],
  author: "",
  key: null, // of the episode that is open
  opening: null, // of the one that was asked for last; until it is there, nothing is marked
  episode: null,
  frames: null,
  frame: 0,
  wanted: 0,
  steps: new model.Steps([]),
  states: new WeakMap(), // of each list of keyframes: undoing an edit of a confirmed one brings that back, too
  state: "untouched",
  saver: null,
  proposals: {}, // source -> marks
  problems: {},
  source: "",
  playing: 0,
};

const timeline = new Timeline($("timeline"), {
  seek: (frame) => show(frame),
  drag: (from, to) => drag(from, to),
  drop: (from, to) => drop(from, to),
});

// -- episodes ---------------------------------------------------------------------------------------------------------

function stateOf(row) {
  const mine = row.tracks[page.author];
  if (row.problem) return "unreadable";
  if (mine) return mine.state;
  return row.proposed ? "proposed" : "untouched";
}

const SHOWN = { open: "begun" };

function listed() {
  const [words, state] = [$("filter").value.trim().toLowerCase(), $("states").value];
  return page.rows.filter((row) => row.name.toLowerCase().includes(words) && (!state || stateOf(row) === state));
}

async function refreshList() {
  try {
    const found = await api.episodes();
    Object.assign(page, { rows: found.episodes, path: found.path, proposedAuthor: found.author });
    drawList();
  } catch {
    $("progress").textContent = "the server does not answer";
  }
}

function drawList() {
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
      item.addEventListener("click", () => open(row.key));
      return item;
    }),
  );
}

function span(kind, text) {
  const found = document.createElement("span");
  found.className = kind;
  found.textContent = text;
  return found;
}

async function open(key, frame = 0) {
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
  page.steps = new model.Steps(track?.marks ?? []);
  page.states = new WeakMap([[page.steps.now, page.state]]);
  page.saver = new Saver(page.path, key, page.author, track?.revision ?? 0, told, conflict, restore);
  page.frames = new Frames(key, episode.length, episode.views, episode.version);
  history.replaceState(null, "", `#${key}`);
  $("name").textContent = episode.name;
  $("instruction").textContent = [episode.task || "unknown task", episode.instruction, ...episode.damages].filter(Boolean).join(" · ");
  document.querySelector(".views").classList.toggle("one", episode.views.length < 2);
  told(track ? `saved, revision ${track.revision}` : "", false);
  timeline.open(episode.length, episode.times);
  await takeUpUnsaved(track?.revision ?? 0);
  marksChanged();
  drawList();
  document.querySelector("#episodes [aria-current]")?.scrollIntoView({ block: "nearest" });
  page.frame = -1;
  await show(frame);
  follow(key);
}

// What this browser had not yet told the server when it was closed.
async function takeUpUnsaved(revision) {
  const left = page.saver.left();
  if (!left) return;
  const mine = left.since === revision || (await conflict(page.episode.tracks[page.author])) === "mine";
  if (!mine) return page.saver.done();
  page.steps = new model.Steps(left.marks);
  page.state = left.state;
  page.states.set(page.steps.now, page.state);
  page.saver.save(left.state, left.marks, left.action);
}

// Curves and proposals come when they are ready.
async function follow(key) {
  const here = () => page.key === key;
  for (let curvesDone = false, proposalsDone = false; here() && !(curvesDone && proposalsDone); ) {
    try {
      if (!curvesDone) {
        const found = await api.curves(key);
        curvesDone = found.ready || Boolean(found.problem);
        if (here() && found.ready) timeline.setCurves(found.curves);
        if (here() && found.problem) say(`no curves: ${found.problem}`);
      }
      const found = await api.proposals(key);
      if (!here()) return;
      proposalsDone = found.ready && Object.values(found.asked).every((job) => job.ready || job.problem);
      takeProposals(found);
    } catch (error) {
      say(error.message);
    }
    if (here()) await pause(POLL_MS);
  }
}

function takeProposals(found) {
  page.proposals = { ...found.recorded };
  for (const [source, job] of Object.entries(found.asked)) {
    if (job.ready) page.proposals[source] = job.marks;
    const button = $(source);
    const going = !job.ready && !job.problem;
    button.textContent = `propose: ${source}${going ? ` ${Math.round(100 * job.share)} %` : ""}`;
    button.disabled = going || job.ready;
    if (job.problem && page.problems[source] !== job.problem) {
      page.problems[source] = job.problem;
      say(`${source}: ${job.problem}`);
    }
  }
  for (const source of ["rules", "learned"]) {
    if (!found.asked[source]) Object.assign($(source), { textContent: `propose: ${source}`, disabled: false });
  }
  if (!page.proposals[page.source]) page.source = Object.keys(page.proposals)[0] ?? "";
  drawLanes();
}

function drawLanes() {
  const proposed = Object.entries(page.proposals).map(([name, marks]) => ({
    name: (name === page.source ? "▸ " : "") + name,
    marks,
    chosen: name === page.source,
  }));
  const others = Object.values(page.episode.tracks).filter((track) => track.author !== page.author);
  timeline.setLanes([...proposed, ...others.map((track) => ({ name: track.author, marks: track.marks }))]);
}

// -- pictures ---------------------------------------------------------------------------------------------------------

async function show(frame) {
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
    const canvas = $(view);
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

function drawWhere() {
  const { episode, frame } = page;
  const mark = model.markAt(page.steps.now, frame);
  const here = mark ? ` · ${mark.phase} ${name(mark.phase)}` : "";
  $("where").textContent = `frame ${frame} of ${episode.length} · ${episode.times[frame].toFixed(2)} s${here}`;
  for (const item of $("strip").querySelectorAll("li")) {
    item.setAttribute("aria-current", String(Number(item.dataset.frame) === frame));
  }
}

function name(phase) {
  return page.episode.labels[phase] ?? `keyframe ${phase}`;
}

function stopPlaying() {
  clearTimeout(page.playing);
  page.playing = 0;
}

function play() {
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

// -- keyframes --------------------------------------------------------------------------------------------------------

function change(marks, action, state = "open") {
  page.steps.go(marks);
  commit(action, state);
}

function commit(action, state) {
  if (page.state === "confirmed" && state === "open") say("no longer confirmed: c confirms it again");
  page.state = state;
  page.states.set(page.steps.now, state);
  marksChanged();
  return page.saver.save(state, bare(page.steps.now), action);
}

function bare(marks) {
  return marks.map(({ frame, phase, source, score }) => ({ frame, phase, source, score }));
}

function marksChanged() {
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
    picture.src = pictureAddress(key, "third_person", mark.frame, episode.version);
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

function drag(from, to) {
  try {
    timeline.setMarks(model.move(page.steps.now, from, to));
  } catch (error) {
    if (!(error instanceof model.Refused)) throw error;
  }
}

function drop(from, to) {
  attempt(() => change(model.move(page.steps.now, from, to), `move ${from} to ${to}`));
  timeline.setMarks(page.steps.now);
}

function proposalAt(frame) {
  return (page.proposals[page.source] ?? []).find((mark) => mark.frame === frame);
}

function jump(frames, way) {
  const found = frames.filter((frame) => (way > 0 ? frame > page.wanted : frame < page.wanted));
  if (found.length) show(way > 0 ? Math.min(...found) : Math.max(...found));
}

const proposalFrames = () => (page.proposals[page.source] ?? []).map((mark) => mark.frame);
const markFrames = () => page.steps.now.map((mark) => mark.frame);

async function ask(source) {
  say("");
  try {
    takeProposals(await api.propose(page.key, source));
    follow(page.key);
  } catch (error) {
    say(error.message);
  }
}

const nextToDo = () => neighbour(1, (row) => stateOf(row) !== "confirmed");

async function confirm() {
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

function neighbour(way, wanted = () => true) {
  const rows = listed();
  const at = rows.findIndex((row) => row.key === page.opening);
  const order = way > 0 ? [...rows.slice(at + 1), ...rows.slice(0, Math.max(0, at))] : rows.slice(0, Math.max(0, at)).reverse();
  const next = order.find((row) => wanted(row) && stateOf(row) !== "unreadable");
  if (next) open(next.key);
  else say(way > 0 ? "there is no other episode to do" : "this is the first episode");
}

const COMMANDS = {
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
  nextSource: () => {
    const sources = Object.keys(page.proposals);
    if (!sources.length) throw new model.Refused("there are no proposals: ask the rules or the learned selector");
    page.source = sources[(sources.indexOf(page.source) + 1) % sources.length];
    say(`proposals: ${page.source}`);
    drawLanes();
  },
  takeAll: () => {
    if (!proposalFrames().length) throw new model.Refused("there are no proposals: ask the rules or the learned selector");
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

async function attempt(work, whileOpening = false) {
  if (page.opening !== page.key && !whileOpening) return;
  try {
    say("");
    await work();
  } catch (error) {
    if (!(error instanceof model.Refused)) throw error;
    say(error.message);
  }
}

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

// -- telling and asking -----------------------------------------------------------------------------------------------

function say(text) {
  $("said").textContent = $("said").title = text;
}

function told(text, trouble) {
  $("saved").textContent = text;
  $("saved").classList.toggle("trouble", trouble);
}

function answer(dialog) {
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
    dialog.showModal();
  });
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

async function showMore() {
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

// -- beginning --------------------------------------------------------------------------------------------------------

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
  $("filter").addEventListener("input", drawList);
  $("states").addEventListener("change", drawList);
  $("help").addEventListener("click", () => COMMANDS.help());
  $("rules").addEventListener("click", () => ask("rules"));
  $("learned").addEventListener("click", () => ask("learned"));
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
  const named = Number(location.hash.slice(1) || NaN);
  const first = page.rows.find((row) => row.key === named) ?? page.rows.find((row) => stateOf(row) !== "confirmed") ?? page.rows[0];
  if (first) await open(first.key);
  setInterval(refreshList, LIST_MS);
}

window.addEventListener("beforeunload", (event) => {
  if (page.saver?.waiting) event.preventDefault();
});

begin();
