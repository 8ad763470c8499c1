// The keyframes of one person. Lists are never changed in place, so that undoing is walking along the old ones.

export class Refused extends Error {}

export function markAt(marks, frame) {
  return marks.find((mark) => mark.frame === frame);
}

export function nearestMark(marks, frame) {
  return marks.reduce(
    (best, mark) => (!best || Math.abs(mark.frame - frame) < Math.abs(best.frame - frame) ? mark : best),
    undefined,
  );
}

function sorted(marks) {
  return [...marks].sort((a, b) => a.frame - b.frame);
}

// Later keyframes make room for one more phase where there is none free between its neighbours.
function renumbered(marks) {
  let free = 0;
  return marks.map((mark) => {
    const phase = Math.max(mark.phase, free);
    free = phase + 1;
    return phase === mark.phase ? mark : { ...mark, phase };
  });
}

function withStart(marks) {
  if (markAt(marks, 0)) return marks;
  return sorted([{ frame: 0, phase: 0, source: "person", score: 1 }, ...marks]);
}

export function set(marks, frame, source = "person", score = 1) {
  if (markAt(marks, frame)) throw new Refused(`frame ${frame} is a keyframe already`);
  const all = frame === 0 ? marks : withStart(marks);
  const before = all.filter((mark) => mark.frame < frame).at(-1);
  const phase = before ? before.phase + 1 : 0;
  return renumbered(sorted([...all, { frame, phase, source, score }]));
}

export function remove(marks, frame) {
  if (!markAt(marks, frame)) throw new Refused(`frame ${frame} is no keyframe`);
  if (frame === 0) throw new Refused("frame 0 is a keyframe by definition");
  return marks.filter((mark) => mark.frame !== frame);
}

export function move(marks, from, to) {
  const moved = markAt(marks, from);
  if (!moved) throw new Refused(`frame ${from} is no keyframe`);
  if (from === to) throw new Refused("it is there already");
  if (from === 0) throw new Refused("frame 0 is a keyframe by definition");
  if (markAt(marks, to)) throw new Refused(`frame ${to} is a keyframe already`);
  const at = marks.indexOf(moved);
  const [low, high] = [marks[at - 1]?.frame ?? -1, marks[at + 1]?.frame ?? Infinity];
  if (to <= low || to >= high) throw new Refused("a keyframe cannot pass another");
  return marks.map((mark) => (mark === moved ? { ...mark, frame: to, source: "person", score: 1 } : mark));
}

export function label(marks, frame, phase) {
  if (!markAt(marks, frame)) throw new Refused(`frame ${frame} is no keyframe`);
  if (frame === 0) throw new Refused("frame 0 is the start");
  const at = marks.findIndex((mark) => mark.frame === frame);
  if (marks[at].phase === phase) throw new Refused(`it is keyframe ${phase} already`);
  if (phase <= (marks[at - 1]?.phase ?? -1)) throw new Refused(`phase ${phase} comes before the keyframe before it`);
  return renumbered(marks.map((mark) => (mark.frame === frame ? { ...mark, phase } : mark)));
}

// A start that was proposed late, where the first pictures were lost, is frame 0 all the same.
export function take(proposals) {
  const start = proposals.find((mark) => mark.phase === 0);
  const others = proposals.filter((mark) => mark.phase > 0 && mark.frame > 0);
  const all = start ? [{ ...start, frame: 0 }, ...others] : others;
  const taken = all.map(({ frame, phase, source, score }) => ({ frame, phase, source, score }));
  return renumbered(withStart(sorted(taken)));
}

// One step after the other, forth and back.
export class Steps {
  constructor(marks) {
    this.past = [];
    this.now = marks;
    this.future = [];
  }

  go(marks) {
    this.past.push(this.now);
    this.future = [];
    this.now = marks;
  }

  undo() {
    if (!this.past.length) throw new Refused("there is nothing to undo");
    this.future.push(this.now);
    this.now = this.past.pop();
  }

  redo() {
    if (!this.future.length) throw new Refused("there is nothing to redo");
    this.past.push(this.now);
    this.now = this.future.pop();
  }
}
