// What the policy meant to do, chunk by chunk, and what the arm was told: one row for each number of an action.
import { COLOURS, label, path, plane } from "./canvas.js";
import { found } from "./dom.js";

const LEFT = 64, PAST = 80, AHEAD = 40, OLDER = 6;
const least = (name) => (name === "gripper" ? 0.05 : 0.004); // of 1, or m or rad: less is not drawn as if it were much

export function drawActions({ series }) {
  const { pen, width, height } = plane(found("actions"));
  const newest = series.chunks.at(-1);
  const names = newest?.names ?? series.commands.findLast(({ names }) => names.length)?.names;
  if (!names?.length) {
    label(pen, "no chunk yet", width / 2, height / 2, COLOURS.dim, "center");
    return;
  }
  const alike = (other) => other.names.join() === names.join(); // radians and metres share no row
  const chunks = series.chunks.slice(-OLDER - 1).filter(alike);
  const now = Math.max(series.commands.at(-1)?.step ?? 0, newest?.start ?? 0);
  const from = now - PAST, until = now + AHEAD;
  const x = (step) => LEFT + ((step - from) / (until - from)) * (width - LEFT - 4);
  const commands = series.commands
    .filter(({ step }) => step >= from)
    .map((command) => (alike(command) ? command : { ...command, values: [] }));
  const tall = (height - 14) / names.length;
  path(pen, [[x(now), 0], [x(now), height - 14]], COLOURS.line, 1, [3, 3]);
  label(pen, `step ${now}`, x(now), height - 6, COLOURS.dim, "center");
  names.forEach((name, row) => {
    const top = row * tall + 3, bottom = (row + 1) * tall - 3;
    const seen = [...chunks.flatMap(({ actions }) => actions.map((action) => action[row])), ...commands.map(({ values }) => values[row])].filter(Number.isFinite);
    const middle = (Math.max(...seen) + Math.min(...seen)) / 2;
    const half = Math.max((Math.max(...seen) - Math.min(...seen)) / 2, least(name)) * 1.1;
    const y = (value) => (Number.isFinite(value) ? (top + bottom) / 2 - ((value - middle) / half) * ((bottom - top) / 2) : null);
    path(pen, [[0, (row + 1) * tall], [width, (row + 1) * tall]], COLOURS.line, 1);
    for (const chunk of chunks) {
      const points = chunk.actions.map((action, at) => [x(chunk.start + at), y(action[row])]).filter(([at]) => at >= LEFT && at <= width);
      path(pen, points, chunk === newest ? COLOURS.on : COLOURS.older, chunk === newest ? 2 : 1.25);
    }
    path(pen, commands.map(({ step, values }) => [x(step), values.length ? y(values[row]) : null]), "#fff", 1.5);
    const last = commands.findLast(({ values }) => values.length)?.values[row];
    label(pen, name.length > 9 ? name.slice(-9) : name, 0, (top + bottom) / 2 - (tall > 26 ? 6 : 0));
    if (tall > 26 && Number.isFinite(last)) label(pen, last.toFixed(3).replace(/^-(0\.0+)$/, "$1"), 0, (top + bottom) / 2 + 7, COLOURS.text);
  });
}
