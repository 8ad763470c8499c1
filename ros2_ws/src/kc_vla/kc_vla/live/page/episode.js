// What is to be done, how far it is, and what came of it.
import { found, say } from "./dom.js";

export function drawEpisode({ parts, series, connected }) {
  const { episode, result, driver } = parts;
  const over = result && episode && result.id === episode.id ? result : null;
  const state = found("state");
  if (!connected) {
    state.className = "pill lost";
    say("state", "not connected: has the launch ended?");
    return;
  }
  state.className = `pill ${over ? (over.success ? "good" : "bad") : (episode?.state ?? "")}`;
  say("state", over ? (over.success ? "succeeded" : "failed") : (episode?.state ?? "no episode yet"));
  if (!episode) return;
  const frame = series.scores.at(-1)?.[0];
  const time = frame === undefined || !episode.period ? "" : ` · frame ${frame} · ${(frame * episode.period).toFixed(1)} s`;
  const seed = episode.variant ? ` (${episode.variant}) · seed ${episode.seed}` : "";
  say("task", `${episode.task}${seed}${time}`);
  say("instruction", episode.instruction || episode.task || "no instruction");
  const person = !over && driver?.id === episode.id && driver.person;
  found("driver").hidden = !person;
  say("driver", person ? `a person drives (${driver.device}) since frame ${driver.frame}` : "");
  found("result").className = over?.success ? "good" : "bad";
  const stages = over?.stages.length ? `${over.completed} of ${over.stages.length} stages, ` : "";
  say("result", over ? `${over.success ? "Succeeded" : `Failed: ${over.reason}`} (${stages}${over.steps} steps, ${over.seconds?.toFixed(1)} s)` : "");
}
