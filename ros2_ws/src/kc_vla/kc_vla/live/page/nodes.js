// How each node is: its problem, its latencies and its losses, as it tells them in the diagnostics.
import { element, found } from "./dom.js";

const SILENT_S = 10, MOST_LOST = 3;
let drawn = "";

function stages(values) {
  return Object.keys(values).flatMap((key) => {
    const stage = /^latency\/(.+)\/p50_ms$/.exec(key)?.[1];
    return stage ? [[stage, values[key], values[`latency/${stage}/p99_ms`]]] : [];
  });
}

const ms = (text) => (Number(text) >= 100 ? Number(text).toFixed(0) : Number(text).toFixed(1));

function card(name, { level, message, values }, silent) {
  const made = element("div", `node l${silent ? 3 : level}`);
  made.append(element("b", "", name));
  const problem = silent ? `silent for ${silent} s` : level ? message : "";
  if (problem) made.append(element("div", "message", problem));
  const list = element("dl");
  for (const [stage, p50, p99] of stages(values)) {
    list.append(element("dt", "", stage.replaceAll("_", " ")), element("dd", "", ms(p50)), element("dd", "", ms(p99)));
  }
  made.append(list);
  const lost = Object.entries(values).filter(([key, count]) => key.startsWith("dropped/") && Number(count) > 0);
  for (const [key, count] of lost.slice(0, MOST_LOST)) made.append(element("div", "lost", `${count} lost: ${key.slice(8)}`));
  return made;
}

export function drawNodes({ parts, now }) {
  const nodes = Object.entries(parts).filter(([part]) => part.startsWith("node ")).sort(([one], [other]) => (one < other ? -1 : 1));
  const rows = nodes.map(([part, node]) => [part.slice(5), node, now - node.at > SILENT_S ? Math.floor(now - node.at) : 0]);
  const told = JSON.stringify(rows.map(([name, node, silent]) => [name, node.at, silent]));
  if (told === drawn) return;
  drawn = told;
  found("nodes").replaceChildren(...(rows.length ? rows.map((row) => card(...row)) : [element("p", "", "no node has told anything yet")]));
}
