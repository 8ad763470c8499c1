// What the page says to the person, and asks.

import { $ } from "./dom.js";
import { Refused } from "./marks.js";
import { page } from "./state.js";

export function say(text) {
  $("said").textContent = $("said").title = text;
}

export function told(text, trouble) {
  $("saved").textContent = text;
  $("saved").classList.toggle("trouble", trouble);
}

export function answer(dialog) {
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
    dialog.showModal();
  });
}

// Does what the person wants; why that cannot be is said.
export async function attempt(work, whileOpening = false) {
  if (page.opening !== page.key && !whileOpening) return;
  try {
    say("");
    await work();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    say(error.message);
  }
}
