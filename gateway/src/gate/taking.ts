import type { ServerResponse } from "node:http";
import { LEAST_BYTES_PER_SECOND } from "./arrival.ts";

/** How often is looked at what a client has taken, within the time in which it must have taken something. */
const LOOKS = 12;

/**
 * Cuts the connection of an answer whose client takes it more slowly than a body may arrive that is held: less than 4 KiB a second over `windowMs`. Only
 * the time counts in which something waits for the client. What is written at a time must not be more than some hundred KiB: it counts as taken when all of it is.
 */
export function requireTaking(raw: ServerResponse, windowMs: number): void {
  const { socket } = raw;
  if (socket === null) return;
  const bytesMin = (LEAST_BYTES_PER_SECOND * windowMs) / 1000;
  const lookMs = windowMs / LOOKS;
  const taken = (): number => socket.bytesWritten - socket.writableLength;
  let before = taken();
  let waitedMs = 0;
  const timer = setInterval(() => {
    if (raw.writableLength > 0) waitedMs += lookMs;
    if (taken() - before >= bytesMin) {
      before = taken();
      waitedMs = 0;
    } else if (waitedMs >= windowMs) raw.destroy();
  }, lookMs).unref();
  raw.once("close", () => clearInterval(timer));
}
