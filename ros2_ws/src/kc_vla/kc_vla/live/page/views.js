// The cameras' pictures, and a flash on them when a keyframe is found.
import { element, found } from "./dom.js";

const canvases = new Map();

export function makeViews(views) {
  if (views.every((view) => canvases.has(view)) && views.length === canvases.size) return;
  canvases.clear();
  found("views").replaceChildren(
    ...views.map((view) => {
      const figure = element("figure");
      const canvas = element("canvas");
      canvas.setAttribute("aria-label", `camera ${view}`);
      canvases.set(view, canvas);
      figure.append(canvas, element("span", "waits", "no picture yet"), element("figcaption", "", view.replaceAll("_", " ")), element("span", "said"));
      return figure;
    }),
  );
}

export async function showPicture(view, blob) {
  const canvas = canvases.get(view);
  if (!canvas) return;
  const picture = await createImageBitmap(blob);
  canvas.width = picture.width;
  canvas.height = picture.height;
  canvas.parentElement.style.aspectRatio = `${picture.width} / ${picture.height}`;
  canvas.getContext("2d").drawImage(picture, 0, 0);
  picture.close();
  canvas.dataset.pictures = Number(canvas.dataset.pictures ?? 0) + 1;
  canvas.parentElement.querySelector(".waits")?.remove();
}

export function flash({ kind, phase, label }) {
  if (kind !== "candidate" && kind !== "committed") return;
  const colour = kind === "committed" ? "#5fd38a" : "#ffc35c";
  for (const figure of document.querySelectorAll("#views figure")) {
    figure.animate([{ boxShadow: `0 0 0 5px ${colour}` }, { boxShadow: `0 0 0 5px ${colour}`, offset: 0.3 }, { boxShadow: "0 0 0 0 transparent" }], 1500);
  }
  const said = document.querySelector("#views .said");
  if (!said) return;
  said.textContent = `keyframe ${phase} ${label} ${kind}`;
  said.style.background = colour;
  said.animate([{ opacity: 0.95 }, { opacity: 0.95, offset: 0.6 }, { opacity: 0 }], 2500);
  document.body.dataset.flashes = Number(document.body.dataset.flashes ?? 0) + 1;
}
