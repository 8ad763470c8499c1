// The strip of what is remembered: as the buffer holds it, with its picture once that has come.
import { element, found, say } from "./dom.js";

let drawn = "";

export function drawKeyframes({ parts, series }) {
  const { keyframes = [], episode } = parts;
  const pictures = new Map(series.thumbs.map(({ frame, picture }) => [frame, picture]));
  const now = JSON.stringify([keyframes, [...pictures.keys()], episode?.id]);
  if (now === drawn) return;
  drawn = now;
  const strip = found("strip");
  const pending = keyframes.filter(({ committed }) => !committed).length;
  say("counted", keyframes.length ? `${keyframes.length - pending} kept${pending ? `, ${pending} candidate` : ""}` : "");
  if (!keyframes.length) {
    strip.replaceChildren(element("p", "", "nothing is remembered yet"));
    return;
  }
  strip.replaceChildren(
    ...keyframes.map(({ frame, phase, label, committed }, at) => {
      // A candidate is replaced frame by frame: until its own picture comes, that of the one before it stands for it.
      const since = keyframes[at - 1]?.frame ?? -1;
      const near = Math.max(...[...pictures.keys()].filter((known) => known > since && known <= frame));
      const item = element("li", committed ? "committed" : "candidate");
      const picture = pictures.has(near) ? Object.assign(element("img"), { src: pictures.get(near), alt: `frame ${near}` }) : element("div", "blank");
      item.append(picture, element("span", "", `${phase} ${label}`), element("span", "when", `${committed ? "frame" : "candidate"} ${frame}`));
      item.title = `keyframe ${phase} ${label}, frame ${frame}`;
      return item;
    }),
  );
  strip.scrollLeft = strip.scrollWidth;
}
