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

/** Bytes of a time. */
export const POINT_TIME_BYTES = 26;

/** Digits of the seconds and their decimals, after `2026-01-02T03:04:`. */
const SECONDS_AT = 17;
const DECIMALS_AT = 20;

/**
 * Returns a writer of {@link pointTime} into bytes. It remembers the latest minute and writes the rest digit by digit: hundreds of texts for each
 * request would be the generator's work, not the server's.
 */
export function pointTimeWriter(): (target: Buffer, at: number, step: number) => void {
  let minute = Number.NaN;
  let text = Buffer.alloc(0);
  const writeDigits = (target: Buffer, at: number, digits: number, value: number): void => {
    let rest = value;
    for (let place = at + digits - 1; place >= at; place -= 1) {
      const tenth = Math.floor(rest / 10);
      target[place] = ZERO + rest - tenth * 10;
      rest = tenth;
    }
  };
  return (target, at, step) => {
    const micros = pointTimeUs(step);
    const now = Math.floor(micros / MINUTE_US);
    if (now !== minute) {
      text = Buffer.from(pointTime(step), "latin1");
      minute = now;
    }
    target.set(text, at);
    const rest = micros - now * MINUTE_US;
    const seconds = Math.floor(rest / 1_000_000);
    writeDigits(target, at + SECONDS_AT, 2, seconds);
    writeDigits(target, at + DECIMALS_AT, 6, rest - seconds * 1_000_000);
  };
}
