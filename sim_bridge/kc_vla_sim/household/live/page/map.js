// Draws the home from above, in metres, its floors side by side: walls, furniture, things as they are and as believed.
const SVG = "http://www.w3.org/2000/svg";
const LETTER = 0.55; // width of one, of its height
const FAR_M = 0.35; // what is believed further away than that is believed elsewhere
const UNDER_M = 0.3; // so far below the ground of a floor something still is on it

export function wrongly(truth, belief, name) {
  const [thing, known] = [truth.things[name], belief.things[name]];
  if (!thing || !known || thing.place[0] === "held") return false;
  const floors = [thing, known].map((each) => floorAt(truth, each.position));
  const far = Math.hypot(thing.position[0] - known.position[0], thing.position[1] - known.position[1]) > FAR_M;
  return far || floors[0] !== floors[1];
}

// The floor of a place: the highest one whose ground is not above it; one without floors is an older home's.
function floorAt(truth, [, , z]) {
  const floors = Object.entries(truth.floors ?? {}).filter(([, floor]) => floor.height <= (z ?? 0) + UNDER_M);
  return floors.length ? floors.reduce((one, other) => (other[1].height > one[1].height ? other : one))[0] : "";
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
  const right_m = (position) => truth.floors?.[floorAt(truth, position)]?.drawn_at ?? 0;
  const at = (position) => [position[0] + right_m(position), -position[1]]; // y grows upwards in a map
  const corners = truth.walls.flat();
  const places = Object.values(truth.areas).map((area) => area.position);
  const xs = [...corners, ...places].map((point) => at(point)[0]);
  const ys = [...corners, ...places].map((point) => point[1]);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const thin = Math.max(right - left, high - low) / 400;
  const floors = Object.keys(truth.floors ?? {}).length;
  svg.setAttribute("viewBox", `${left - 0.2} ${-high - 0.2} ${right - left + 0.4} ${high - low + 0.4 + (floors > 1 ? 8 * thin : 0)}`);
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
  for (const [[x1, y1], [x2, y2]] of truth.walls.map((wall) => wall.map(at))) {
    add(svg, "line", { x1, y1, x2, y2, stroke: "#374151", "stroke-width": 2 * thin, "stroke-linecap": "round" });
  }
  const parts = []; // of the way, each on one floor
  let floor = null;
  for (const { position } of way.map((area) => truth.areas[area]).filter(Boolean)) {
    if (floorAt(truth, position) !== floor) parts.push([]);
    floor = floorAt(truth, position);
    parts.at(-1).push(at(position).join(","));
  }
  for (const part of parts) {
    add(svg, "polyline", { points: part.join(" "), fill: "none", stroke: "#f3a6c0", "stroke-width": 2.5 * thin, "stroke-linejoin": "round" });
  }

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
  for (const [name, { height }] of Object.entries(truth.floors ?? {}).filter((_, __, all) => all.length > 1)) {
    const points = truth.walls.flat().filter((point) => floorAt(truth, point) === name).map(at);
    const middle = (Math.min(...points.map(([x]) => x)) + Math.max(...points.map(([x]) => x))) / 2;
    add(svg, "text", { x: middle, y: -low + 7 * thin, "font-size": 6 * thin, "text-anchor": "middle", fill: "#374151" }, `${name} floor, ${height} m`);
  }
  const [x, y] = at(truth.areas[truth.robot].position);
  const tall = 6 * thin;
  add(svg, "path", { d: `M ${x} ${y - tall} L ${x + tall * 0.8} ${y + tall * 0.7} L ${x - tall * 0.8} ${y + tall * 0.7} Z`, fill: "#d6336c" });
}
