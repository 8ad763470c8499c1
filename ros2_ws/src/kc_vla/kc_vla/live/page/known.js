// What is known and where: the surface from above, as a robot believes it, and what each memory holds.
import { COLOURS, label, plane } from "./canvas.js";
import { element, found, say } from "./dom.js";

const AROUND_M = 0.08, LEAST_M = 0.8, SMALL_M = 0.03, AIR_PX = 4;
const MEMORIES = { "short-term": "short", "long-term": "long" };
let drawn = "";

// The base of the robot is below in the middle and looks up: x grows upwards, y to the left.
function scale(things, width, height) {
  const ends = things.flatMap(({ position: [x, y], size: [deep, wide] }) => [[x - deep / 2, y - wide / 2], [x + deep / 2, y + wide / 2]]);
  const [xs, ys] = [0, 1].map((at) => [0, ...ends.map((end) => end[at])]);
  const [low, high] = [Math.min(...xs) - AROUND_M, Math.max(...xs, LEAST_M / 2) + AROUND_M];
  const side = Math.max(LEAST_M / 2, ...ys.map(Math.abs)) + AROUND_M;
  const px = Math.min(width / (2 * side), height / (high - low));
  return { px, at: ([x, y]) => [width / 2 - y * px, height - (x - low) * px] };
}

function drawMap(things, holds) {
  const { pen, width, height } = plane(found("surface"));
  const { px, at } = scale(things.map(([, thing]) => thing), width, height);
  const [baseX, baseY] = at([0, 0]);
  pen.fillStyle = COLOURS.dim;
  pen.beginPath();
  pen.arc(baseX, baseY, 0.05 * px, 0, 2 * Math.PI);
  pen.fill();
  label(pen, "arm", baseX, baseY + 0.05 * px + 7, COLOURS.dim, "center");
  const taken = [];
  const large = things.toSorted(([, one], [, other]) => other.size[0] * other.size[1] - one.size[0] * one.size[1]);
  for (const [name, { position, size, movable, confidence }] of large) {
    const [x, y] = at(position);
    const [wide, deep] = [Math.max(size[1], SMALL_M) * px, Math.max(size[0], SMALL_M) * px];
    const colour = name === holds ? COLOURS.warn : movable ? COLOURS.good : COLOURS.on;
    pen.globalAlpha = Math.max(0.3, confidence);
    pen.strokeStyle = colour;
    pen.lineWidth = name === holds ? 2.5 : 1.2;
    pen.strokeRect(x - wide / 2, y - deep / 2, wide, deep);
    pen.globalAlpha = 1;
    const long = pen.measureText(name).width;
    const left = Math.min(Math.max(x - long / 2, AIR_PX), width - long - AIR_PX);
    const rows = movable ? [y, y + 12, y - 12] : [y - deep / 2 + 8, y + deep / 2 - 8, y];
    const row = rows.find((each) => taken.every(([l, r, t]) => left > r || left + long < l || Math.abs(each - t) > 11));
    if (row === undefined) continue;
    taken.push([left, left + long, row]);
    label(pen, name, left, row, movable ? COLOURS.text : COLOURS.dim);
  }
}

const aged = (seconds) => (seconds < 90 ? `${Math.max(0, seconds).toFixed(0)} s` : `${(seconds / 60).toFixed(0)} min`);

function row([name, { states, place, seen }], holds, seconds) {
  const item = element("li");
  const where = name === holds ? "in the hand" : place[0] === "stands" ? "" : place.filter(Boolean).join(" ");
  item.append(element("b", "", name), element("span", "", states.join(", ")), element("span", "where", where), element("small", "", aged(seconds - seen)));
  return item;
}

export function drawKnown({ parts }) {
  const { belief } = parts;
  found("known").hidden = !belief;
  if (!belief) return;
  const things = Object.entries(belief.things);
  const box = found("surface").getBoundingClientRect();
  const now = JSON.stringify([belief, box.width, box.height]);
  if (now === drawn) return;
  drawn = now;
  drawMap(things.filter(([, { size }]) => size), belief.holds);
  for (const [memory, id] of Object.entries(MEMORIES)) {
    const held = things.filter(([, { memories }]) => memories.includes(memory));
    say(`${id}_count`, `${held.length} things`);
    found(id).replaceChildren(...held.map((each) => row(each, belief.holds, belief.seconds)));
  }
}
