// Keeps what the stack tells, draws it, and only then asks for more: so a slow page gets fewer pictures, and holds nobody up.
import { drawActions } from "./actions.js";
import { drawArm } from "./arm.js";
import { tellControl, tellStopped } from "./control.js";
import { drawCrops } from "./crops.js";
import { found, say } from "./dom.js";
import { drawEpisode } from "./episode.js";
import { drawKeyframes } from "./keyframes.js";
import { drawKnown } from "./known.js";
import { drawNodes } from "./nodes.js";
import { drawPlan } from "./plan.js";
import { drawScores } from "./scores.js";
import { flash, makeViews, showPicture } from "./views.js";

const MOST_ROWS = { scores: 4000, events: 256, chunks: 16, commands: 600, thumbs: 64, steps: 300 };
const AGAIN_MS = 1500;
const shown = { parts: {}, series: {}, now: 0, connected: false, lost: false };
let socket = null;

function clear() {
  shown.series = Object.fromEntries(Object.keys(MOST_ROWS).map((name) => [name, []]));
}

function take(news) {
  const first = news.anew === true;
  if (first) clear();
  shown.now = news.now;
  Object.assign(shown.parts, news.parts);
  for (const [name, rows] of Object.entries(news.series ?? {})) {
    shown.series[name].push(...rows);
    shown.series[name].splice(0, shown.series[name].length - MOST_ROWS[name]);
  }
  if (news.parts?.robot) makeViews(news.parts.robot.views);
  if (!first) for (const event of news.series?.events ?? []) flash(event);
  found("problems").hidden = !news.problems;
  say("problems", (news.problems ?? []).join("; "));
}

function draw() {
  drawEpisode(shown);
  drawKeyframes(shown);
  drawCrops(found("seen"), found("crops"), shown.parts.crops, shown.now);
  drawPlan(shown);
  drawKnown(shown);
  drawScores(shown);
  drawArm(shown);
  drawActions(shown);
  drawNodes(shown);
  tellStopped(shown.parts.stopped === true);
}

async function take_message(data) {
  const length = new DataView(data).getUint32(0);
  const news = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  let at = 4 + length;
  take(news);
  for (const { view, bytes } of news.pictures) {
    await showPicture(view, new Blob([new Uint8Array(data, at, bytes)], { type: "image/jpeg" }));
    at += bytes;
  }
  draw();
}

function connect() {
  if (socket || document.hidden) return;
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const mine = new WebSocket(`${scheme}://${location.host}/api/live`);
  socket = mine;
  mine.binaryType = "arraybuffer";
  mine.addEventListener("open", () => {
    shown.parts = {};
    tellControl();
  });
  mine.addEventListener("message", async ({ data }) => {
    shown.connected = true;
    try {
      await take_message(data);
    } finally {
      if (mine.readyState === WebSocket.OPEN) mine.send("more");
    }
  });
  mine.addEventListener("close", () => {
    socket = null;
    Object.assign(shown, { connected: false, lost: true });
    drawEpisode(shown);
    setTimeout(connect, AGAIN_MS);
  });
}

// Nobody looks at a hidden page: the stack need not send it anything.
document.addEventListener("visibilitychange", () => (document.hidden ? socket?.close() : connect()));
window.addEventListener("resize", draw);
clear();
connect();
