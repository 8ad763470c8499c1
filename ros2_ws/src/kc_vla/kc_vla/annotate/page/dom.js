// Small help with the page's elements.

export const $ = (id) => document.getElementById(id);
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export function span(kind, text) {
  const found = document.createElement("span");
  found.className = kind;
  found.textContent = text;
  return found;
}
