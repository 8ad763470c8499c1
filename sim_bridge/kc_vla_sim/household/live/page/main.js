// Asks the server what is new twice a second and draws it: everything comes in as text, nothing as markup.
import { drawCrops } from "./crops.js";
import { draw, wrongly } from "./map.js";
import { addSteps } from "./steps.js";

const shown = {
  truth: null,
  belief: null,
  crops: null,
  way: [],
  numbers: { truth: 0, belief: 0, crops: 0 },
  last: 0,
  follows: true,
};
const found = (id) => document.getElementById(id);

function line(list, text, kind) {
  const item = document.createElement("li");
  item.className = kind;
  item.append(text);
  list.append(item);
}

function tellSteps(steps) {
  addSteps(found("steps"), steps);
  for (const step of steps) {
    if (step.kind === "begin") found("said").textContent = String(step.text);
    if (step.kind === "end") found("said").textContent += step.text === "done" ? " — done" : ` — not done: ${step.text}`;
  }
}

function follow() {
  const list = found("steps"); // only now is it as high as it stays: the rows above it take their room
  if (shown.follows) list.scrollTop = list.scrollHeight;
}

function tellNumbers() {
  const { truth, belief } = shown;
  const things = Object.entries(truth.things);
  const known = belief ? things.filter(([name]) => belief.things[name]) : [];
  const wrong = known.filter(([name]) => wrongly(truth, belief, name));
  const rows = [
    ["robot", `in the ${truth.areas[truth.robot].room}${belief?.holds ? `, with ${belief.holds} in its hand` : ""}`],
    ["time, way", `${truth.seconds.toFixed(0)} s, ${truth.walked_m.toFixed(0)} m`],
    ["it knows", `${known.length} of ${things.length} things, ${wrong.length} of them elsewhere than they are`],
  ];
  found("numbers").replaceChildren(
    ...rows.flatMap((row) => row.map((text, at) => Object.assign(document.createElement(at ? "dd" : "dt"), { textContent: text }))),
  );
  const list = found("beliefs");
  list.replaceChildren();
  const movable = Object.entries(belief?.things ?? {}).filter(([, thing]) => thing.movable);
  for (const [name, thing] of movable.slice(0, 60)) {
    const states = thing.states.length ? ` (${thing.states.join(", ")})` : "";
    const off = truth.things[name] && wrongly(truth, belief, name);
    const place = thing.place[0] === "held" ? "in its hand" : thing.place.join(" ");
    line(list, `${name}${states}, ${place} [${thing.by}]${off ? " — it is not there" : ""}`, off ? "wrong" : "");
  }
}

async function look() {
  try {
    const asked = new URLSearchParams({ ...shown.numbers, since: shown.last });
    const answer = await (await fetch(`api/home?${asked}`)).json();
    for (const what of ["truth", "belief", "crops"]) if (answer[what] !== undefined) shown[what] = answer[what];
    const fresh = answer.truth !== undefined || answer.belief !== undefined;
    Object.assign(shown, { way: answer.way, numbers: answer.numbers, last: answer.last });
    found("control").hidden = !answer.control;
    tellSteps(answer.steps);
    drawCrops(found("seen"), found("crops"), shown.crops, answer.now);
    if (shown.truth && fresh) {
      draw(found("map"), shown);
      tellNumbers();
    }
    follow();
  } catch {
    found("said").textContent = "the home does not answer: has its launch ended?";
  }
  setTimeout(look, 500);
}

async function ask(where, body) {
  const headers = { "Content-Type": "application/json", "X-Token": found("token").value };
  const answer = await fetch(where, { method: "POST", headers, body: JSON.stringify(body) });
  const told = answer.ok ? {} : await answer.json();
  found("trouble").textContent = String(told.error ?? told.detail ?? "");
}

found("control").addEventListener("submit", (event) => {
  event.preventDefault();
  ask("api/instruction", { instruction: found("instruction").value });
});
found("stop").addEventListener("click", () => ask("api/stop", {}));
found("steps").addEventListener("scroll", ({ target }) => {
  shown.follows = target.scrollHeight - target.scrollTop - target.clientHeight < 40;
});
look();
