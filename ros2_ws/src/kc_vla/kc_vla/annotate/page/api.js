// The server's answers; what goes wrong is an error with the server's own words.

export class ServerError extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

async function call(method, path, body) {
  const options = { method, headers: {} };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(`api/${path}`, options);
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new ServerError(answer.status, found.error ?? `the server answers ${answer.status}`);
  return found;
}

export const api = {
  episodes: () => call("GET", "episodes"),
  episode: (key) => call("GET", `episodes/${key}`),
  curves: (key) => call("GET", `episodes/${key}/curves`),
  proposals: (key) => call("GET", `episodes/${key}/proposals`),
  propose: (key, source) => call("POST", `episodes/${key}/proposals/${source}`),
  save: (key, track) => call("PUT", `episodes/${key}/track`, track),
  history: (key) => call("GET", `episodes/${key}/history`),
  agreement: (key, within) => call("GET", `episodes/${key}/agreement?within=${within}`),
};

export function pictureAddress(key, view, frame, version) {
  return `api/episodes/${key}/frames/${view}/${frame}.jpg?v=${version}`;
}
