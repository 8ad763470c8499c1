// Elements: what is told is text, never markup.
export const found = (id) => document.getElementById(id);

export function element(kind, className = "", text = "") {
  const made = document.createElement(kind);
  if (className) made.className = className;
  made.textContent = text;
  return made;
}

export const say = (id, text) => {
  if (found(id).textContent !== text) found(id).textContent = text;
};
