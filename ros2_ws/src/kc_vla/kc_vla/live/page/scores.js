// The score of every frame, the threshold over which it makes a candidate, and the keyframes.
import { COLOURS, label, path, plane } from "./canvas.js";
import { found, say } from "./dom.js";

const LEFT = 26, BELOW = 16, ABOVE = 12;

export function drawScores({ parts, series }) {
  const { pen, width, height } = plane(found("scores"));
  const rows = series.scores;
  const last = rows.at(-1);
  const from = rows.length ? rows[0][0] : 0;
  const until = Math.max(last?.[0] ?? 0, from + 100);
  const x = (frame) => LEFT + ((frame - from) / (until - from)) * (width - LEFT - 6);
  const y = (score) => (score === null ? null : height - BELOW - Math.min(1, Math.max(0, score)) * (height - BELOW - ABOVE));
  for (const score of [0, 0.5, 1]) {
    path(pen, [[LEFT, y(score)], [width, y(score)]], COLOURS.line, 1);
    label(pen, score.toString(), LEFT - 5, y(score), COLOURS.dim, "right");
  }
  label(pen, `frame ${from}`, LEFT, height - 6);
  label(pen, `${until}`, width - 6, height - 6, COLOURS.dim, "right");
  for (const { frame, phase, committed } of parts.keyframes ?? []) {
    if (frame < from) continue;
    const colour = committed ? COLOURS.good : COLOURS.warn;
    path(pen, [[x(frame), ABOVE], [x(frame), height - BELOW]], colour, 1.5, committed ? [] : [3, 3]);
    label(pen, `${phase}`, x(frame), 6, colour, "center");
  }
  path(pen, rows.map(([frame, , threshold]) => [x(frame), y(threshold)]), COLOURS.warn, 1, [5, 4]);
  path(pen, rows.map(([frame, score]) => [x(frame), y(score)]), COLOURS.on, 1.75);
  if (!last) return;
  const told = last[1] === null ? "says nothing of this frame" : `score ${last[1].toFixed(2)}, threshold ${last[2]?.toFixed(2)}`;
  say("score", `${told}, waits for keyframe ${last[3]}`);
}
