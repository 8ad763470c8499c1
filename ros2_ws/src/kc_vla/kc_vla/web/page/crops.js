// Crops of what was seen, in a grid: name, state and age of each. What is told is text, never markup.
const drawn = new Map(); // by the name of the crop: its item

function aged(seconds) {
  if (seconds < 90) return `${seconds.toFixed(0)} s ago`;
  return seconds < 5400 ? `${(seconds / 60).toFixed(0)} min ago` : `${(seconds / 3600).toFixed(0)} h ago`;
}

function made(unit) {
  const item = document.createElement("li");
  const image = document.createElement("img");
  image.addEventListener("error", () => (item.hidden = true)); // it is gone, or in another process
  image.alt = "";
  image.src = `api/crop/${encodeURIComponent(unit.image)}`;
  item.append(image, ...["b", "span", "small"].map((kind) => document.createElement(kind)));
  return item;
}

// `part` has the units and when that was so, `now` is the same clock, s. The section is hidden where there is nothing.
export function drawCrops(section, list, part, now) {
  const units = part?.units ?? [];
  const items = units.map((unit) => {
    const item = drawn.get(unit.image) ?? made(unit);
    const [, name, state, age] = item.children;
    name.textContent = String(unit.type);
    state.textContent = unit.source ? `${unit.state} (${unit.source})` : String(unit.state);
    age.textContent = aged(Math.max(0, unit.age + now - part.at));
    item.title = `${unit.id}${unit.source ? `, state by ${unit.source}` : ""}`;
    return [unit.image, item];
  });
  drawn.clear();
  for (const [name, item] of items) drawn.set(name, item);
  const shown = [...drawn.values()];
  if (list.childElementCount !== shown.length || shown.some((item, at) => list.children[at] !== item)) list.replaceChildren(...shown);
  section.hidden = shown.every((item) => item.hidden);
}
