// Keeps what was marked: on the server at once, and in the browser until the server has it.

import { api } from "./api.js";

const AGAIN_MS = 1500;

export class Saver {
  // told(text, trouble) says how it stands; conflict(stored) asks the person and returns "mine" or "theirs".
  constructor(place, key, author, revision, told, conflict, stored) {
    Object.assign(this, { key, author, revision, told, conflict, stored });
    this.store = `kc_vla unsaved ${place} ${key} ${author}`;
    this.waiting = null;
    this.busy = false;
    this.stopped = false;
  }

  // What a page that was closed too early has left, if the server never got it.
  left() {
    const held = localStorage.getItem(this.store);
    return held ? JSON.parse(held) : null;
  }

  save(state, marks, action) {
    const actions = this.waiting ? `${this.waiting.action}; ${action}` : action;
    this.waiting = { since: this.revision, state, marks, action: actions.slice(0, 400) };
    localStorage.setItem(this.store, JSON.stringify(this.waiting));
    return this.send();
  }

  async send() {
    if (this.busy) return this.ended;
    this.busy = true;
    this.ended = this.drain().finally(() => (this.busy = false));
    return this.ended;
  }

  async drain() {
    while (this.waiting && !this.stopped) {
      const sent = this.waiting;
      try {
        this.told("saving", false);
        const track = await api.save(this.key, { author: this.author, ...sent, since: this.revision });
        this.revision = track.revision;
        if (this.waiting === sent) this.done();
        this.told(`saved, revision ${track.revision}`, false);
      } catch (error) {
        if (error.status === 409) await this.decide();
        else if (error.status === 400) {
          if (this.waiting === sent) this.done();
          this.told(`not saved: ${error.message}`, true);
        } else {
          this.told(`NOT SAVED, trying again: ${error.message}`, true);
          await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        }
      }
    }
  }

  done() {
    this.waiting = null;
    localStorage.removeItem(this.store);
  }

  async decide() {
    const track = (await api.episode(this.key)).tracks[this.author];
    this.revision = track.revision;
    if ((await this.conflict(track)) === "theirs") {
      this.done();
      this.stored(track);
    }
  }

  stop() {
    this.stopped = true;
  }
}
