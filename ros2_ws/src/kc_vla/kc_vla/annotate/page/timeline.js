// The timeline: keyframes, proposals and other people's keyframes as marks, curves below, all over the same time.

export const COLOURS = ["#9aa1ad", "#5aa9ff", "#ffb454", "#7ddc8b", "#ff8fb3", "#c9a6ff", "#6fd6d6", "#ffe08a"];
const CURVE_COLOURS = {
  gripper: "#ffb454",
  "joint speed": "#7ddc8b",
  "tool height": "#5aa9ff",
  score: "#c9a6ff",
  "person drives": "#e07ad6",
};
const LEFT = 152;
const TOP = 34;
const LANE = 15;
const GRAB = 7;
const LEAST_SPAN = 20;

export class Timeline {
  // on: {seek(frame), drag(from, to), drop(from, to)}
  constructor(canvas, on) {
    Object.assign(this, { canvas, on, length: 1, times: [0], marks: [], lanes: [], curves: {}, frame: 0 });
    this.still = document.createElement("canvas");
    this.view = [0, 1];
    this.held = null;
    new ResizeObserver(() => this.resize()).observe(canvas);
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.over(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", () => (this.held = null));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  open(length, times) {
    Object.assign(this, { length, times, lanes: [], curves: {}, marks: [], frame: 0, view: [0, Math.max(1, length - 1)] });
    this.redraw();
  }

  show(frame) {
    this.frame = frame;
    const [low, high] = this.view;
    if (frame < low || frame > high) this.pan(frame - (low + high) / 2);
    this.paint();
  }

  setMarks(marks) {
    this.marks = marks;
    this.redraw();
  }

  // lanes: [{name, marks, mine}]
  setLanes(lanes) {
    this.lanes = lanes;
    this.redraw();
  }

  setCurves(curves) {
    this.curves = curves;
    this.redraw();
  }

  zoom(factor, around = this.frame) {
    const [low, high] = this.view;
    const whole = Math.max(1, this.length - 1);
    const span = Math.min(whole, Math.max(Math.min(LEAST_SPAN, whole), (high - low) * factor));
    const begin = around - ((around - low) / (high - low)) * span;
    this.view = [begin, begin + span];
    this.pan(0);
  }

  pan(frames) {
    const span = this.view[1] - this.view[0];
    const begin = Math.min(Math.max(0, this.view[0] + frames), Math.max(0, this.length - 1 - span));
    this.view = [begin, begin + span];
    this.redraw();
  }

  fit() {
    this.view = [0, Math.max(1, this.length - 1)];
    this.redraw();
  }

  // -- where things are ---------------------------------------------------------------------------------------------

  x(frame) {
    const [low, high] = this.view;
    return LEFT + ((frame - low) / (high - low)) * (this.width - LEFT - 8);
  }

  frameAt(x) {
    const [low, high] = this.view;
    const frame = low + ((x - LEFT) / (this.width - LEFT - 8)) * (high - low);
    return Math.min(this.length - 1, Math.max(0, Math.round(frame)));
  }

  // Frame number, with a fraction, of a time; times ascend.
  frameOf(time) {
    const { times } = this;
    let [low, high] = [0, times.length - 1];
    if (time <= times[0] || high === 0) return 0;
    if (time >= times[high]) return high;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle;
      else high = middle;
    }
    return low + (time - times[low]) / Math.max(1e-9, times[high] - times[low]);
  }

  markNear(x, y) {
    if (y > TOP) return undefined;
    const near = this.marks.filter((mark) => Math.abs(this.x(mark.frame) - x) <= GRAB);
    return near.sort((a, b) => Math.abs(this.x(a.frame) - x) - Math.abs(this.x(b.frame) - x))[0];
  }

  // -- the hand -----------------------------------------------------------------------------------------------------

  down(event) {
    this.canvas.setPointerCapture(event.pointerId);
    const mark = this.markNear(event.offsetX, event.offsetY);
    const frame = this.frameAt(event.offsetX);
    this.held = { mark: mark?.frame, at: mark?.frame ?? frame, pan: event.shiftKey || event.button === 1, x: event.offsetX };
    if (!this.held.pan) this.on.seek(this.held.at);
  }

  over(event) {
    if (!this.held) {
      const near = this.markNear(event.offsetX, event.offsetY);
      this.canvas.style.cursor = near && near.frame > 0 ? "ew-resize" : "default";
      return;
    }
    if (this.held.pan) {
      const frames = ((this.held.x - event.offsetX) / (this.width - LEFT)) * (this.view[1] - this.view[0]);
      this.held.x = event.offsetX;
      this.pan(frames);
      return;
    }
    const frame = this.frameAt(event.offsetX);
    if (frame === this.held.at) return;
    this.held.at = frame;
    this.on.seek(frame);
    if (this.held.mark !== undefined) this.on.drag(this.held.mark, frame);
  }

  up() {
    const { held } = this;
    this.held = null;
    if (held && held.mark !== undefined && held.at !== held.mark) this.on.drop(held.mark, held.at);
  }

  wheel(event) {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.pan(((event.deltaX || event.deltaY) / 600) * (this.view[1] - this.view[0]));
    } else this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.frameAt(event.offsetX));
  }

  // -- drawing ------------------------------------------------------------------------------------------------------

  resize() {
    const ratio = window.devicePixelRatio || 1;
    [this.width, this.height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    for (const canvas of [this.canvas, this.still]) {
      canvas.width = Math.max(1, Math.round(this.width * ratio));
      canvas.height = Math.max(1, Math.round(this.height * ratio));
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.redraw();
  }

  redraw() {
    if (!this.width || this.drawn) return;
    this.drawn = requestAnimationFrame(() => {
      this.drawn = 0;
      this.drawStill();
      this.paint();
    });
  }

  // Everything but the cursor: drawn anew only when it changes, so that a step costs one copy and a line.
  drawStill() {
    const pen = this.still.getContext("2d");
    pen.clearRect(0, 0, this.width, this.height);
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    this.drawRuler(pen);
    this.lanes.forEach((lane, k) => this.drawLane(pen, lane, TOP + 6 + LANE * k + LANE / 2));
    this.drawCurves(pen, TOP + 10 + LANE * this.lanes.length);
    this.drawMarks(pen);
  }

  drawRuler(pen) {
    const [low, high] = this.view.map((frame) => this.timeAt(frame));
    const rough = (high - low) / 8;
    const unit = 10 ** Math.floor(Math.log10(Math.max(1e-3, rough)));
    const step = [1, 2, 5, 10].map((k) => k * unit).find((s) => s >= rough) ?? 10 * unit;
    pen.fillStyle = "#9aa1ad";
    pen.strokeStyle = "#2a2e38";
    pen.textAlign = "center";
    for (let time = Math.ceil(low / step) * step; time <= high; time += step) {
      const x = this.x(this.frameOf(time));
      pen.beginPath();
      pen.moveTo(x, 14);
      pen.lineTo(x, this.height);
      pen.stroke();
      pen.fillText(`${+time.toFixed(3)} s`, Math.min(x, this.width - 16), 7);
    }
    pen.textAlign = "left";
    pen.fillStyle = "#e4e6eb";
    pen.fillText("keyframes", 6, 24);
  }

  timeAt(frame) {
    const low = Math.floor(Math.min(Math.max(0, frame), this.length - 1));
    const high = Math.min(this.length - 1, low + 1);
    return this.times[low] + (frame - low) * (this.times[high] - this.times[low]);
  }

  drawLane(pen, lane, y) {
    pen.fillStyle = lane.chosen ? "#e4e6eb" : "#9aa1ad";
    pen.textAlign = "left";
    pen.fillText(clipped(pen, lane.name, LEFT - 12), 6, y);
    for (const mark of lane.marks) {
      const x = this.x(mark.frame);
      if (x < LEFT - 6 || x > this.width) continue;
      pen.fillStyle = COLOURS[mark.phase % COLOURS.length];
      pen.globalAlpha = 0.35 + 0.65 * (mark.score ?? 1);
      pen.beginPath();
      pen.moveTo(x, y - 5);
      pen.lineTo(x + 5, y);
      pen.lineTo(x, y + 5);
      pen.lineTo(x - 5, y);
      pen.fill();
      pen.globalAlpha = 1;
    }
  }

  drawMarks(pen) {
    pen.textAlign = "center";
    for (const mark of this.marks) {
      const x = this.x(mark.frame);
      if (x < LEFT - 9 || x > this.width) continue;
      pen.strokeStyle = pen.fillStyle = COLOURS[mark.phase % COLOURS.length];
      pen.globalAlpha = 0.5;
      pen.beginPath();
      pen.moveTo(x, TOP);
      pen.lineTo(x, this.height);
      pen.stroke();
      pen.globalAlpha = 1;
      pen.fillRect(x - 7, 16, 14, 17);
      pen.fillStyle = "#16181d";
      pen.fillText(String(mark.phase), x, 25);
    }
  }

  drawCurves(pen, top) {
    const names = Object.keys(this.curves);
    const high = (this.height - top - 4) / Math.max(1, names.length);
    names.forEach((name, k) => this.drawCurve(pen, name, this.curves[name], top + k * high, high - 5));
  }

  drawCurve(pen, name, curve, top, high) {
    const known = curve.values.filter((value) => value !== null);
    const [least, most] = known.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    const span = most - least || 1;
    pen.textAlign = "left";
    pen.fillStyle = CURVE_COLOURS[name] ?? "#e4e6eb";
    pen.fillText(name, 6, top + high / 2 - (curve.unit ? 6 : 0));
    pen.fillStyle = "#9aa1ad";
    if (curve.unit && known.length) pen.fillText(`${least.toFixed(2)}–${most.toFixed(2)} ${curve.unit}`, 6, top + high / 2 + 7);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, top, this.width - LEFT, high + 2);
    pen.clip();
    pen.strokeStyle = CURVE_COLOURS[name] ?? "#e4e6eb";
    pen.lineWidth = 1.2;
    pen.beginPath();
    let on = false;
    curve.values.forEach((value, k) => {
      if (value === null) {
        on = false;
        return;
      }
      const [x, y] = [this.x(this.frameOf(curve.times[k])), top + high - ((value - least) / span) * high];
      if (on) pen.lineTo(x, y);
      else pen.moveTo(x, y);
      on = true;
    });
    pen.stroke();
    pen.restore();
  }

  paint() {
    if (!this.width) return;
    const pen = this.canvas.getContext("2d");
    pen.clearRect(0, 0, this.width, this.height);
    pen.drawImage(this.still, 0, 0, this.width, this.height);
    const x = this.x(this.frame);
    pen.strokeStyle = "#ffffff";
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x, 14);
    pen.lineTo(x, this.height);
    pen.stroke();
  }
}

function clipped(pen, text, width) {
  let shown = text;
  while (shown.length > 3 && pen.measureText(shown).width > width) shown = `${shown.slice(0, -2)}…`;
  return shown;
}
