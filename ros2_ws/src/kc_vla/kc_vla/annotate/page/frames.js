// Decoded pictures around the frame that is looked at, all views of a frame together.

import { pictureAddress } from "./api.js";

const AHEAD = 24;
const BEHIND = 8;
const AT_ONCE = 3;
const MOST_BYTES = 96e6;

export class Frames {
  constructor(key, length, views, version) {
    Object.assign(this, { key, length, views, version });
    this.held = new Map(); // frame -> pair of bitmaps, the least recently wanted first
    this.coming = new Map(); // frame -> {promise, controller}
    this.bytes = 0;
    this.last = 0;
    this.way = 1;
    this.queue = [];
    this.closed = false;
  }

  // The pictures of a frame if they are here.
  get(frame) {
    return this.held.get(frame);
  }

  // The pictures of a frame; from now on those around it are fetched first.
  want(frame) {
    if (frame !== this.last) this.way = frame > this.last ? 1 : -1;
    this.last = frame;
    const around = [frame];
    for (let k = 1; k <= AHEAD; k++) {
      around.push(frame + this.way * k);
      if (k <= BEHIND) around.push(frame - this.way * k);
    }
    const wanted = around.filter((k) => k >= 0 && k < this.length);
    const near = new Set(wanted);
    for (const [k, load] of this.coming) if (!near.has(k)) load.controller.abort();
    this.queue = wanted.filter((k) => !this.held.has(k) && !this.coming.has(k));
    if (this.queue[0] === frame) this.start(this.queue.shift());
    this.fill();
    const pair = this.held.get(frame);
    if (pair) {
      this.held.delete(frame);
      this.held.set(frame, pair);
      return Promise.resolve(pair);
    }
    return this.coming.get(frame).promise;
  }

  fill() {
    while (this.coming.size < AT_ONCE && this.queue.length) this.start(this.queue.shift());
  }

  start(frame) {
    const controller = new AbortController();
    const promise = this.load(frame, controller.signal).finally(() => {
      this.coming.delete(frame);
      if (!this.closed) this.fill();
    });
    promise.catch(() => {}); // told to whoever waits for it
    this.coming.set(frame, { promise, controller });
  }

  async load(frame, signal) {
    const pair = await Promise.all(this.views.map((view) => this.picture(view, frame, signal)));
    if (this.closed) return pair;
    this.held.set(frame, pair);
    this.bytes += size(pair);
    for (const [old, gone] of this.held) {
      if (this.bytes <= MOST_BYTES) break;
      if (old === frame || old === this.last) continue;
      this.held.delete(old);
      this.bytes -= size(gone);
      gone.forEach((bitmap) => bitmap?.close());
    }
    return pair;
  }

  async picture(view, frame, signal) {
    const answer = await fetch(pictureAddress(this.key, view, frame, this.version), { signal });
    if (answer.status === 204) return null;
    if (!answer.ok) {
      const found = await answer.json().catch(() => ({}));
      throw new Error(found.error ?? `frame ${frame}: the server answers ${answer.status}`);
    }
    return createImageBitmap(await answer.blob());
  }

  close() {
    this.closed = true;
    for (const load of this.coming.values()) load.controller.abort();
    for (const pair of this.held.values()) pair.forEach((bitmap) => bitmap?.close());
    this.held.clear();
  }
}

function size(pair) {
  return pair.reduce((sum, bitmap) => sum + (bitmap ? 4 * bitmap.width * bitmap.height : 0), 0);
}
