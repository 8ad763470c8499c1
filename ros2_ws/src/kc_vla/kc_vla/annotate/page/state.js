// What the page knows: the episodes, the one that is open, its keyframes and proposals.

import { $ } from "./dom.js";
import { Steps } from "./marks.js";
import { Timeline } from "./timeline.js";

export const page = {
  path: "",
  rows: [],
  author: "",
  key: null, // of the episode that is open
  opening: null, // of the one that was asked for last; until it is there, nothing is marked
  episode: null,
  frames: null,
  frame: 0,
  wanted: 0,
  steps: new Steps([]),
  states: new WeakMap(), // of each list of keyframes: undoing an edit of a confirmed one brings that back, too
  state: "untouched",
  saver: null,
  proposals: {}, // source -> marks
  problems: {},
  source: "",
  playing: 0,
};

// What a person does on it is told to `timeline.on`.
export const timeline = new Timeline($("timeline"), {});

export function stateOf(row) {
  const mine = row.tracks[page.author];
  if (row.problem) return "unreadable";
  if (mine) return mine.state;
  return row.proposed ? "proposed" : "untouched";
}

export function name(phase) {
  return page.episode.labels[phase] ?? `keyframe ${phase}`;
}
