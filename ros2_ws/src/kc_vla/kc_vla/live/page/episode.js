// What is to be done, how far it is, and what came of it.
import { found, say } from "./dom.js";

// Without stages nobody, no simulator and no person, has said how it went.
function outcome({ success, stages }) {
  if (success) return ["succeeded", "good"];
  return stages.length ? ["failed", "bad"] : ["not judged", ""];
}

const told = (word, { success, reason }) => `${word[0].toUpperCase()}${word.slice(1)}${success || !reason ? "" : `: ${reason}`}`;

export function drawEpisode({ parts, series, connected, lost }) {
  const { episode, result, driver } = parts;
  const over = result && episode && result.id === episode.id ? result : null;
  const state = found("state");
  if (!connected) { // at first it is about to be
    state.className = lost ? "pill lost" : "pill";
    say("state", lost ? "not connected: has the launch ended?" : "connecting");
    return;
  }
  const [word, kind] = over ? outcome(over) : [episode?.state ?? "no episode yet", episode?.state ?? ""];
  state.className = `pill ${kind}`;
  say("state", word);
  if (!episode) return;
  const frame = series.scores.at(-1)?.[0];
  const time = frame === undefined || !episode.period ? "" : ` · frame ${frame} · ${(frame * episode.period).toFixed(1)} s`;
  const seed = episode.variant ? ` (${episode.variant}) · seed ${episode.seed}` : "";
  say("task", `${episode.task}${seed}${time}`);
  say("instruction", episode.instruction || episode.task || "no instruction");
  const person = !over && driver?.id === episode.id && driver.person;
  found("driver").hidden = !person;
  say("driver", person ? `a person drives (${driver.device}) since frame ${driver.frame}` : "");
  found("result").className = kind;
  const stages = over?.stages.length ? `${over.completed} of ${over.stages.length} stages, ` : "";
  say("result", over ? `${told(word, over)} (${stages}${over.steps} steps, ${over.seconds?.toFixed(1)} s)` : "");
}
