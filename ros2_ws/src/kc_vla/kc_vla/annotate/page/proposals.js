// Keyframes that the rules or a selector propose, and the curves: they come when they are ready.

import { api } from "./api.js";
import { $, pause } from "./dom.js";
import { page, timeline } from "./state.js";
import { say } from "./telling.js";

const POLL_MS = 500;
// Those that can be asked: a button each, called as it is.
export const SOURCES = ["rules", "learned", "events"];

// Curves and proposals come when they are ready.
export async function follow(key) {
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
  for (const source of SOURCES) {
    if (!found.asked[source]) Object.assign($(source), { textContent: `propose: ${source}`, disabled: false });
  }
  if (!page.proposals[page.source]) page.source = Object.keys(page.proposals)[0] ?? "";
  drawLanes();
}

export function drawLanes() {
  const names = Object.keys(page.proposals);
  $("timeline").setAttribute("aria-label", names.length ? `timeline with proposals: ${names.join(", ")}` : "timeline");
  const proposed = Object.entries(page.proposals).map(([name, marks]) => ({
    name: (name === page.source ? "▸ " : "") + name,
    marks,
    chosen: name === page.source,
  }));
  const others = Object.values(page.episode.tracks).filter((track) => track.author !== page.author);
  timeline.setLanes([...proposed, ...others.map((track) => ({ name: track.author, marks: track.marks }))]);
}

export function proposalAt(frame) {
  return (page.proposals[page.source] ?? []).find((mark) => mark.frame === frame);
}

export const proposalFrames = () => (page.proposals[page.source] ?? []).map((mark) => mark.frame);

export async function ask(source) {
  say("");
  try {
    takeProposals(await api.propose(page.key, source));
    follow(page.key);
  } catch (error) {
    say(error.message);
  }
}
