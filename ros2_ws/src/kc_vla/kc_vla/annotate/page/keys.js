// The keys: what each does, and the list that `?` shows.

export const KEYS = [
  ["step", "→", "l", "next frame"],
  ["back", "←", "h", "frame before"],
  ["step10", "Shift →", "L", "10 frames on"],
  ["back10", "Shift ←", "H", "10 frames back"],
  ["first", "Home", "", "first frame"],
  ["last", "End", "", "last frame"],
  ["play", "Space", "", "play, pause"],
  ["nextProposal", "n", "]", "next proposal"],
  ["previousProposal", "p", "[", "proposal before"],
  ["nextMark", ".", "", "next keyframe"],
  ["previousMark", ",", "", "keyframe before"],
  ["set", "k", "Enter", "set a keyframe here, or take the proposal here"],
  ["remove", "x", "Delete", "delete the keyframe here"],
  ["move", "m", "", "move the nearest keyframe here"],
  ["phase", "0 … 9", "", "give the keyframe here this phase"],
  ["nextSource", "s", "", "choose another source of proposals"],
  ["askRules", "q", "", "ask the rules for proposals"],
  ["askLearned", "Q", "", "ask the learned selector for proposals"],
  ["askEvents", "v", "", "ask for events as proposals"],
  ["takeAll", "t", "", "take all proposals of the chosen source"],
  ["undo", "z", "Ctrl z", "undo"],
  ["redo", "y", "Ctrl y", "redo"],
  ["confirm", "c", "", "confirm, and on to the next episode"],
  ["reopen", "r", "", "take the confirmation back"],
  ["nextEpisode", "e", "PageDown", "next episode"],
  ["previousEpisode", "E", "PageUp", "episode before"],
  ["zoomIn", "+", "=", "zoom in"],
  ["zoomOut", "-", "", "zoom out"],
  ["fit", "f", "", "the whole episode"],
  ["more", "i", "", "history, and agreement with others"],
  ["filter", "/", "", "filter episodes"],
  ["help", "?", "", "these keys"],
];

const ARROWS = { "→": "ArrowRight", "←": "ArrowLeft", Space: " " };
const COMMANDS = new Map();
for (const [name, ...words] of KEYS) {
  for (const word of words.slice(0, 2).filter(Boolean)) {
    const plain = word.replace("Shift ", "shift+").replace("Ctrl ", "ctrl+");
    const [shift, key] = plain.startsWith("shift+") ? ["shift+", plain.slice(6)] : ["", plain];
    COMMANDS.set(shift + (ARROWS[key] ?? key), name);
  }
}

// The command of a key press and what it is given, or nothing.
export function commandOf(event) {
  if (event.altKey || event.metaKey) return undefined;
  if (event.ctrlKey) {
    if (event.key.toLowerCase() === "z" && event.shiftKey) return ["redo"];
    const name = COMMANDS.get(`ctrl+${event.key}`);
    return name && [name];
  }
  if (/^[0-9]$/.test(event.key)) return ["phase", Number(event.key)];
  const shift = event.shiftKey && event.key.length > 1 ? "shift+" : "";
  const name = COMMANDS.get(shift + event.key);
  return name && [name];
}
