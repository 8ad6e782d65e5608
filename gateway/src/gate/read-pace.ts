import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import { LEAST_BYTES_PER_SECOND } from "./arrival.ts";
import { COUNTED_BYTES_MIN } from "./body-memory.ts";

// Two rules, because they protect different things: an answer that is held whole takes memory until its last byte is sent, and Node does not report how far
// one large write has got; a file or an export is read in pieces and occupies a place and a descriptor.

/** The slowest allowed pace at which a client reads an answer held in memory. */
export type ReadPace = {
  /** Milliseconds that any answer may take. */
  readonly graceMs: number;
  /** The average rate required beyond that. */
  readonly bytesPerSecond: number;
};

/** 16 MiB, the longest answers, in nine minutes: less than the slowest mobile networks provide. */
export const usualReadPace: ReadPace = { graceMs: 15_000, bytesPerSecond: 32 * 1024 };

/** Requires that the client takes an answer of more than 64 KiB at the pace, or cuts the connection. */
export function requireReadPace(
  answer: string | Buffer,
  { raw }: FastifyReply,
  { readPace: { graceMs, bytesPerSecond } }: { readonly readPace: ReadPace },
): void {
  if (answer.length <= COUNTED_BYTES_MIN || raw.closed) return;
  const timer = setTimeout(() => raw.destroy(), graceMs + (answer.length / bytesPerSecond) * 1000).unref();
  raw.once("close", () => clearTimeout(timer));
}

/** How often the bytes taken by a client are checked, within the time in which it must have taken some. */
const LOOKS = 12;

/**
 * Cuts the connection of an answer whose client takes it more slowly than a held body may arrive: less than 4 KiB a second over `windowMs`. Only
 * time in which data wait for the client counts. A single write must not exceed some hundred KiB: it counts as taken when all of it is.
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
