// The client's times of points: the same in every store, ten steps a second, none of them on the dot, as of a training loop.

const FIRST_US = 1_767_323_045_678_901;
const STEP_US = 100_000;
const MINUTE_US = 60_000_000;
const ZERO = "0".charCodeAt(0);

/** Microseconds since 1970 of a step, a whole number from 0. The same formula is in `mlflow_driver.py`. */
export function pointTimeUs(step: number): number {
  return FIRST_US + step * STEP_US + ((step * 48_271) % 65_537);
}

/** The time of a step in UTC without its zone: `2026-01-02T03:04:05.678901`. */
export function pointTime(step: number): string {
  const micros = pointTimeUs(step);
  return `${new Date(micros / 1000).toISOString().slice(0, 19)}.${String(micros % 1_000_000).padStart(6, "0")}`;
}

/** Digits of the seconds and their decimals, after `2026-01-02T03:04:`. */
const SECONDS_AT = 17;
const DECIMALS_AT = 20;

/**
 * Returns a writer of {@link pointTime} between two texts of ASCII characters into bytes, which returns where it ends. It keeps what is the same within
 * a minute and writes the rest digit by digit: to make hundreds of texts for each request would be the generator's work, not the server's.
 */
export function pointTimeWriter(before: string, after: string): (target: Buffer, at: number, step: number) => number {
  let minute = Number.NaN;
  let text = Buffer.alloc(0);
  return (target, at, step) => {
    const micros = pointTimeUs(step);
    const now = Math.floor(micros / MINUTE_US);
    if (now !== minute) {
      text = Buffer.from(`${before}${pointTime(step)}${after}`, "latin1");
      minute = now;
    }
    target.set(text, at);
    const rest = micros - now * MINUTE_US;
    const seconds = Math.floor(rest / 1_000_000);
    const from = at + before.length;
    writeDigits(target, from + SECONDS_AT, 2, seconds);
    writeDigits(target, from + DECIMALS_AT, 6, rest - seconds * 1_000_000);
    return at + text.length;
  };
}

/** Writes a whole number as its last `digits` digits. */
export function writeDigits(target: Buffer, at: number, digits: number, value: number): void {
  let rest = value;
  for (let place = at + digits - 1; place >= at; place -= 1) {
    const tenth = Math.floor(rest / 10);
    target[place] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
}
