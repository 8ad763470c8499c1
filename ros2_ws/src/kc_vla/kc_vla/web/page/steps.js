// The steps of a planner as a list: when, what kind, and in words. What is told is text, never markup.
const MOST_LINES = 400;

export function stepItem({ kind, text, now_s }) {
  const item = document.createElement("li");
  item.className = String(kind);
  const label = document.createElement("b");
  label.textContent = `${Number(now_s).toFixed(0)} s ${kind}`;
  item.append(label, String(text));
  return item;
}

const ELSEWHERE = ["memory", "result"]; // what a memory holds is a list of its own, and the last step says what came of it

export function addSteps(list, steps) {
  list.append(...steps.filter(({ kind }) => !ELSEWHERE.includes(kind)).map(stepItem));
  while (list.childElementCount > MOST_LINES) list.firstElementChild.remove();
}
