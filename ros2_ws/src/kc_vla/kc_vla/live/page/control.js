// The emergency stop. The page tells what the arm's controller answered, and claims nothing that it did not.
import { found, say } from "./dom.js";

const KEY = "kc_vla token";
const PATIENCE_MS = 10000;

// The token comes behind the # of the address, which is sent to nobody, and does not stay there to be copied by chance.
if (location.hash.startsWith("#token=")) {
  sessionStorage.setItem(KEY, location.hash.slice("#token=".length));
  history.replaceState(null, "", location.pathname);
}

export async function tellControl() {
  try {
    const { control } = await (await fetch("api/control")).json();
    found("control").hidden = !(control && sessionStorage.getItem(KEY));
  } catch {
    found("control").hidden = true;
  }
}

let wasStopped = false;

// What the controller answered to a stop is no longer true once somebody has released it.
export function tellStopped(stopped) {
  found("stopped").hidden = !stopped;
  if (wasStopped && !stopped && found("answer").classList.contains("good")) found("answer").hidden = true;
  wasStopped = stopped;
}

function answer(text, kind) {
  found("answer").hidden = false;
  found("answer").className = `banner ${kind}`;
  say("answer", text);
}

async function stop() {
  answer("Emergency stop: asking the arm's controller …", "warn");
  const unsure = "THE ARM MAY STILL MOVE: use the robot's own emergency stop";
  try {
    const headers = { "X-Token": sessionStorage.getItem(KEY) ?? "" };
    const response = await fetch("api/stop", { method: "POST", headers, signal: AbortSignal.timeout(PATIENCE_MS) });
    const told = await response.json();
    if (!response.ok) answer(`NOT STOPPED: ${told.detail ?? told.error ?? response.status}. ${unsure}`, "bad");
    else if (!told.answered) answer(`NO ANSWER: ${told.message}. ${unsure}`, "bad");
    else if (!told.done) answer(`REFUSED: the arm's controller answered "${told.message}". ${unsure}`, "bad");
    else answer(`The arm's controller answered: ${told.message}`, "good");
  } catch (error) {
    answer(`NO ANSWER: the stack was not reached (${error.message}). ${unsure}`, "bad");
  }
}

found("stop").addEventListener("click", stop);
