/* What a program for WASI that reads files and answers on its streams asks of its host, nothing more. */
import { closeSync, openSync, readSync, writeSync } from "node:fs";

const DONE = 0, BAD_DESCRIPTOR = 8, NO_ENTRY = 44, NO_SUPPORT = 58, CANNOT_SEEK = 70;
const ROOT = 3, FIRST_FILE = 4, CHARACTER_DEVICE = 2, DIRECTORY = 3, REGULAR_FILE = 4;

/* The program has ended by itself. */
class Exit {
  constructor(code) {
    this.code = code;
  }
}

/* Imports and a way to start: `words` are the program's arguments, `input` and `output` the host's descriptors of its streams; it sees
 * the folder / of the host and may read there. */
export class Wasi {
  constructor(words, { input, output }) {
    this.input = input;
    this.output = output;
    this.words = words.map((word) => new TextEncoder().encode(word + "\0"));
    this.files = new Map();
    const names = ["args_get", "args_sizes_get", "environ_get", "environ_sizes_get", "fd_close", "fd_fdstat_get", "fd_fdstat_set_flags", "fd_prestat_dir_name", "fd_prestat_get",
      "fd_read", "fd_seek", "fd_write", "path_open", "proc_exit"];
    this.imports = { wasi_snapshot_preview1: Object.fromEntries(names.map((name) => [name, this[name].bind(this)])) };
  }

  /* Runs it to its end; returns its exit code. */
  start(instance) {
    this.memory = instance.exports.memory;
    try {
      instance.exports._start();
      return 0;
    } catch (error) {
      if (error instanceof Exit) {
        return error.code;
      }
      throw error;
    }
  }

  bytes(address, size) {
    return new Uint8Array(this.memory.buffer, address >>> 0, size >>> 0);
  }

  put(address, value) {
    new DataView(this.memory.buffer).setUint32(address >>> 0, value, true);
    return DONE;
  }

  /* The parts of memory that a list of addresses and sizes names. */
  parts(list, count) {
    const words = new Uint32Array(this.memory.buffer, list >>> 0, 2 * count);
    return Array.from({ length: count }, (_, i) => this.bytes(words[2 * i], words[2 * i + 1]));
  }

  args_sizes_get(count, size) {
    this.put(count, this.words.length);
    return this.put(size, this.words.reduce((sum, word) => sum + word.length, 0));
  }

  args_get(list, at) {
    for (const word of this.words) {
      this.put(list, at);
      this.bytes(at, word.length).set(word);
      list += 4;
      at += word.length;
    }
    return DONE;
  }

  environ_sizes_get(count, size) {
    this.put(count, 0);
    return this.put(size, 0);
  }

  environ_get() {
    return DONE;
  }

  fd_prestat_get(fd, at) {
    this.put(at, 0);
    return fd === ROOT ? this.put(at + 4, 1) : BAD_DESCRIPTOR;
  }

  fd_prestat_dir_name(fd, at) {
    this.bytes(at, 1)[0] = "/".charCodeAt(0);
    return DONE;
  }

  fd_fdstat_get(fd, at) {
    const right = new DataView(this.memory.buffer, at, 24);
    right.setUint8(0, fd < ROOT ? CHARACTER_DEVICE : fd === ROOT ? DIRECTORY : REGULAR_FILE);
    right.setUint16(2, 0, true);
    right.setBigUint64(8, ~0n, true);
    right.setBigUint64(16, ~0n, true);
    return DONE;
  }

  fd_fdstat_set_flags() {
    return NO_SUPPORT;
  }

  path_open(folder, flags, name, length, how, base, inheriting, fdFlags, out) {
    let host;
    try {
      host = openSync("/" + new TextDecoder().decode(this.bytes(name, length)), "r");
    } catch {
      return NO_ENTRY;
    }
    let fd = FIRST_FILE;
    while (this.files.has(fd)) {
      fd++;
    }
    this.files.set(fd, host);
    return this.put(out, fd);
  }

  fd_close(fd) {
    const host = this.files.get(fd);
    if (host === undefined) {
      return BAD_DESCRIPTOR;
    }
    this.files.delete(fd);
    closeSync(host);
    return DONE;
  }

  fd_seek() {
    return CANNOT_SEEK;
  }

  fd_read(fd, list, count, out) {
    const host = fd === 0 ? this.input : this.files.get(fd);
    let sum = 0;
    if (host === undefined) {
      return BAD_DESCRIPTOR;
    }
    for (const part of this.parts(list, count)) {
      const got = part.length !== 0 ? this.read(host, part) : 0;
      sum += got;
      if (got < part.length) {
        break;
      }
    }
    return this.put(out, sum);
  }

  /* A pipe that is empty for the moment is asked again. */
  read(host, part) {
    for (;;) {
      try {
        return readSync(host, part);
      } catch (error) {
        if (error.code === "EOF") {
          return 0;
        }
        if (error.code !== "EAGAIN") {
          throw error;
        }
      }
    }
  }

  fd_write(fd, list, count, out) {
    let sum = 0;
    for (const part of this.parts(list, count)) {
      for (let at = 0; at < part.length;) {
        at += writeSync(fd === 1 ? this.output : 2, part, at);
      }
      sum += part.length;
    }
    return this.put(out, sum);
  }

  proc_exit(code) {
    throw new Exit(code);
  }
}
