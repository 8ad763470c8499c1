// Draws the home from above, in metres: walls, furniture, things as they are and as the robot believes.
const SVG = "http://www.w3.org/2000/svg";
const LETTER = 0.55; // width of one, of its height
const FAR_M = 0.35; // what is believed further away than that is believed elsewhere

export function wrongly(truth, belief, name) {
  const [thing, known] = [truth.things[name], belief.things[name]];
  if (!thing || !known || thing.place[0] === "held") return false;
  return Math.hypot(thing.position[0] - known.position[0], thing.position[1] - known.position[1]) > FAR_M;
}

function add(parent, kind, attributes, text) {
  const made = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

export function draw(svg, { truth, belief, way }) {
  svg.replaceChildren();
  const corners = truth.walls.flat();
  const places = Object.values(truth.areas).map((area) => area.position);
  const xs = [...corners, ...places].map((point) => point[0]);
  const ys = [...corners, ...places].map((point) => point[1]);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  svg.setAttribute("viewBox", `${left - 0.2} ${-high - 0.2} ${right - left + 0.4} ${high - low + 0.4}`);
  const thin = Math.max(right - left, high - low) / 400;
  const at = (position) => [position[0], -position[1]]; // y grows upwards in a map
  const round = (position, radius, look) => add(svg, "circle", { cx: at(position)[0], cy: at(position)[1], r: radius, ...look });

  const labels = [];
  for (const [name, thing] of Object.entries(truth.things).filter(([, each]) => each.place[0] === "stands")) {
    const [x, y] = at(thing.position);
    const [wide, deep] = thing.size;
    const fill = belief?.things[name] ? "#e3edf8" : "#f1f3f5";
    const box = add(svg, "rect", { x: x - wide / 2, y: y - deep / 2, width: wide, height: deep, fill, stroke: "#ced4da", "stroke-width": thin });
    add(box, "title", {}, `${name} ${thing.states.join(", ")}`);
    if (wide * deep > 0.3) labels.push([x, y, deep > 2 * wide, thing.type, wide * deep]);
  }
  for (const [[x1, y1], [x2, y2]] of truth.walls) {
    add(svg, "line", { x1, y1: -y1, x2, y2: -y2, stroke: "#374151", "stroke-width": 2 * thin, "stroke-linecap": "round" });
  }
  const stops = way.filter((area) => truth.areas[area]).map((area) => at(truth.areas[area].position).join(","));
  add(svg, "polyline", { points: stops.join(" "), fill: "none", stroke: "#f3a6c0", "stroke-width": 2.5 * thin, "stroke-linejoin": "round" });

  const small = 2.4 * thin;
  for (const [name, thing] of Object.entries(truth.things)) {
    if (thing.fixed) continue;
    const known = belief?.things[name];
    const off = known && wrongly(truth, belief, name);
    const colour = off ? "#e8590c" : known ? "#1c7ed6" : "#b9c0cb";
    if (off) {
      const [[x1, y1], [x2, y2]] = [at(known.position), at(thing.position)];
      add(svg, "line", { x1, y1, x2, y2, stroke: colour, "stroke-width": thin, "stroke-dasharray": `${2 * thin} ${2 * thin}` });
    }
    if (known) round(known.position, 0.7 * small, { fill: colour, opacity: Math.max(0.3, known.confidence) });
    const mark = round(thing.position, small, { fill: "transparent", stroke: colour, "stroke-width": thin });
    add(mark, "title", {}, `${name} ${thing.states.join(", ")}${thing.hidden ? " (hidden)" : ""}`);
  }
  const taken = [];
  for (const [middle, y, turned, name] of labels.sort((one, other) => other[4] - one[4])) { // above what lies there
    const [tall, long] = [5.5 * thin, LETTER * 5.5 * thin * name.length];
    const x = Math.min(Math.max(middle, left + (turned ? 0 : long / 2)), right - (turned ? 0 : long / 2)); // inside
    const [wide, high] = turned ? [tall, long] : [long, tall];
    if (taken.some((each) => Math.abs(each.x - x) < (each.wide + wide) / 2 && Math.abs(each.y - y) < (each.high + high) / 2)) continue;
    taken.push({ x, y, wide, high });
    const look = { "font-size": tall, "text-anchor": "middle", "dominant-baseline": "middle", stroke: "#fff", "stroke-width": thin };
    const text = add(svg, "text", { x, y, "paint-order": "stroke", "pointer-events": "none", ...look }, name);
    if (turned) text.setAttribute("transform", `rotate(-90 ${x} ${y})`);
  }
  const [x, y] = at(truth.areas[truth.robot].position);
  const tall = 6 * thin;
  add(svg, "path", { d: `M ${x} ${y - tall} L ${x + tall * 0.8} ${y + tall * 0.7} L ${x - tall * 0.8} ${y + tall * 0.7} Z`, fill: "#d6336c" });
}
