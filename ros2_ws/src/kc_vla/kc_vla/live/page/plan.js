// What a planner does: its steps, the skill that is being done with its stage, and what is in the hand.
import { found, say } from "./dom.js";
import { addSteps } from "./steps.js";

let drawn = null;

export function drawPlan({ parts, series }) {
  const { steps } = series;
  found("plan").hidden = !steps.length;
  if (!steps.length) {
    found("steps").replaceChildren();
    drawn = null;
    return;
  }
  const { skill = "", stage = "", in_hand: hand = "" } = parts["node skill_server"]?.values ?? {};
  say("doing", stage ? `${skill}: ${stage}` : "no skill is being done");
  say("hand", hand ? `in the hand: ${hand}` : "the hand is empty");
  if (drawn === steps.at(-1)) return;
  const list = found("steps");
  const new_ones = steps.slice(steps.lastIndexOf(drawn) + 1);
  if (new_ones.length === steps.length) list.replaceChildren();
  addSteps(list, new_ones);
  drawn = steps.at(-1);
  list.scrollTop = list.scrollHeight;
}
