import { codecError } from "../bytes/codec-error.ts";
import { type ByteReader } from "../bytes/byte-reader.ts";
import { type ByteWriter } from "../bytes/byte-writer.ts";
import type { LogColumns } from "./log-columns.ts";

/*
 * Client times are stored as differences from the time before, in the largest unit that divides all times of the block. One number per line:
 * 0 for no time; 1 if an absolute time follows (seconds, then microseconds); from 2 on a difference with its sign in the lowest bit.
 */

const UNITS = [1_000_000, 1000, 1] as const;
const NONE = 0;
const ABSOLUTE = 1;
const FIRST_DIFFERENCE = 2;
/** Seconds whose difference in microseconds, doubled for its sign, is still a safe integer. */
const JUMP_SECONDS_MAX = 4_000_000_000;
const SECOND_US = 1_000_000;
/** The years 1 to 9999. */
const SECONDS_MIN = -62_135_596_800;
const SECONDS_MAX = 253_402_300_799;

type Times = Pick<LogColumns, "sentSeconds" | "sentMicros">;

/** Writes the client times of a block. */
export function writeTimes(out: ByteWriter, { sentSeconds, sentMicros }: Times): void {
  const unitCode = UNITS.findIndex((unit) => areMultiples(sentMicros, unit));
  const unit = UNITS[unitCode]!;
  out.unsigned(unitCode);
  let seconds = 0;
  let micros = 0;
  for (let i = 0; i < sentSeconds.length; i++) {
    const nextSeconds = sentSeconds[i]!;
    if (Number.isNaN(nextSeconds)) {
      out.unsigned(NONE);
      continue;
    }
    const nextMicros = sentMicros[i]!;
    const jump = nextSeconds - seconds;
    if (Math.abs(jump) <= JUMP_SECONDS_MAX) {
      const difference = (jump * SECOND_US + (nextMicros - micros)) / unit;
      out.unsigned(FIRST_DIFFERENCE + (difference < 0 ? -2 * difference - 1 : 2 * difference));
    } else {
      out.unsigned(ABSOLUTE);
      out.signed(nextSeconds);
      out.unsigned(nextMicros);
    }
    seconds = nextSeconds;
    micros = nextMicros;
  }
}

function areMultiples(numbers: Uint32Array, unit: number): boolean {
  for (let i = 0; i < numbers.length; i++) if (numbers[i]! % unit !== 0) return false;
  return true;
}

/** Reads what {@link writeTimes} wrote into `sentSeconds` and `sentMicros`. Throws a CodecError for anything else. */
export function readTimes(input: ByteReader, { sentSeconds, sentMicros }: Times): void {
  const unit = UNITS[input.unsigned()];
  if (unit === undefined) throw codecError("the log block has an unknown unit of time");
  let seconds = 0;
  let micros = 0;
  for (let i = 0; i < sentSeconds.length; i++) {
    const code = input.unsigned();
    if (code === NONE) {
      sentSeconds[i] = Number.NaN;
      continue;
    }
    if (code === ABSOLUTE) {
      seconds = input.signed();
      micros = input.unsigned();
    } else {
      const signed = code - FIRST_DIFFERENCE;
      const difference = (signed % 2 === 0 ? signed / 2 : -(signed + 1) / 2) * unit;
      const whole = Math.floor(difference / SECOND_US);
      micros += difference - whole * SECOND_US;
      seconds += whole;
      if (micros >= SECOND_US) {
        micros -= SECOND_US;
        seconds += 1;
      }
    }
    if (!(seconds >= SECONDS_MIN && seconds <= SECONDS_MAX && micros < SECOND_US)) {
      throw codecError("a time of the log block is out of range");
    }
    sentSeconds[i] = seconds;
    sentMicros[i] = micros;
  }
}
