import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Returns how many bytes of buffers this thread holds, without those that wait to be collected. Takes some milliseconds. */
export function heldBufferBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

/** Watches buffers that are handed on, regardless of the thread's other work. `bytes` returns how many of their bytes are still held. */
export function watchBuffers(): { readonly add: (buffer: Uint8Array) => void; readonly bytes: () => Promise<number> } {
  const watched: WeakRef<ArrayBufferLike>[] = [];
  return {
    add: (buffer) => void watched.push(new WeakRef(buffer.buffer)),
    async bytes() {
      // The target of a WeakRef is held until the turn after its creation or dereference.
      await setImmediate();
      collectGarbage();
      return watched.reduce((sum, each) => sum + (each.deref()?.byteLength ?? 0), 0);
    },
  };
}
