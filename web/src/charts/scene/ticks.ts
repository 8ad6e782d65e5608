import { aboveZero, type Range } from "./scale.ts";
import { shortDuration, shortNumber } from "./numbers.ts";

/** A place on an axis and its label. */
export type Tick = { readonly value: number; readonly label: string };

const UNITS = [
  { size: 1e9, suffix: "G" },
  { size: 1e6, suffix: "M" },
  { size: 1e3, suffix: "k" },
] as const;

/** From here on numbers are written with a unit; beyond the next two with a power of ten. */
const UNIT_MIN = 1e4;
const POWER_MIN = 1e13;
const POWER_BELOW = 1e-3;
const UNIT_DECIMALS_MAX = 2;

/** As many ticks as a value can be read by, as far as round numbers allow it. */
const TICKS_MIN = 4;

/** Round distances are taken where they give this share of the ticks that there is room for. */
const DENSE = 0.6;

/** Larger multiples of a distance are not certain to differ as doubles. */
const MULTIPLES_MAX = 2 ** 50;

/** First digits of the distances of ticks: a distance has one digit that counts where it can, else two. */
const ROUND = [1, 2, 5, 10, 20, 50];
const HALF_ROUND = [2.5, 25];

/**
 * Returns round numbers within a range, in equal distances: about `wanted` of them, at most three more, and at least four as far as round numbers allow
 * it. `whole` for an axis of whole numbers.
 */
export function linearTicks([low, high]: Range, wanted: number, whole = false): Tick[] {
  const power = 10 ** Math.floor(Math.log10(high / wanted - low / wanted));
  const countOf = (step: number): number => Math.floor(high / step) - Math.ceil(low / step) + 1;
  const isFine = (step: number): boolean =>
    step > 0 && Number.isFinite(step) && Math.abs(low / step) < MULTIPLES_MAX && countOf(step) >= 1;
  // A multiple of 0.1 is not the double that is written 0.3, its text is.
  const steps = (factors: readonly number[]): number[] =>
    factors.map((factor) => factor * power).filter((step) => isFine(step) && (!whole || step >= 1));
  const [round, all] = [steps(ROUND), steps([...ROUND, ...HALF_ROUND]).toSorted((a, b) => a - b)];
  const fits = (step: number): boolean => countOf(step) <= wanted;
  const isEnough = (step: number): boolean => fits(step) && countOf(step) >= Math.min(TICKS_MIN, wanted);
  const isNearlyEnough = (step: number): boolean =>
    wanted >= TICKS_MIN && countOf(step) >= TICKS_MIN && countOf(step) <= wanted + 3;
  const isDense = (step: number): boolean => isEnough(step) && countOf(step) >= wanted * DENSE;
  const step = round.find(isDense) ?? all.find(isEnough) ?? all.findLast(isNearlyEnough) ?? round.find(fits);
  // Numbers that are nearly equal for their size have no multiples between them that a double can distinguish.
  if (step === undefined)
    return (low === high ? [low] : [low, high]).map((value) => ({ value, label: shortNumber(value) }));
  const first = Math.ceil(low / step);
  return labelled(
    Array.from({ length: countOf(step) }, (_, i) => (first + i) * step),
    step,
  );
}

/** All in one notation, with as many digits as distinguish them. */
function labelled(values: readonly number[], step: number): Tick[] {
  const largest = Math.max(...values.map(Math.abs));
  const write = (): ((value: number) => string) => {
    if (largest >= POWER_MIN || largest < POWER_BELOW) return (value) => withPower(value, step);
    const unit = largest < UNIT_MIN ? undefined : UNITS.find(({ size }) => largest >= size);
    const decimals = decimalsOf(step / (unit?.size ?? 1));
    if (unit === undefined || decimals > UNIT_DECIMALS_MAX) return (value) => value.toFixed(decimalsOf(step));
    return (value) => (value === 0 ? "0" : `${(value / unit.size).toFixed(decimals)}${unit.suffix}`);
  };
  const labelOf = write();
  return values.map((value) => ({ value: value === 0 ? 0 : value, label: labelOf(value === 0 ? 0 : value) }));
}

/** Factors of powers of ten on a logarithmic axis, from few to many. */
const FACTORS = [[1], [1, 3], [1, 2, 5], [1, 2, 3, 5, 7]];

/**
 * Returns powers of ten within a range above 0, every second, third, … where there are too many, with others between them where there are few; equal
 * distances in a range that has none of these.
 */
export function logTicks(range: Range, wanted: number): Tick[] {
  const [low, high] = aboveZero(range);
  const [from, to] = [Math.floor(Math.log10(low) - 1e-9), Math.ceil(Math.log10(high) + 1e-9)];
  const within = (factors: readonly number[], every: number): number[] => {
    const values: number[] = [];
    for (let e = from; e <= to; e++) {
      if (e % every !== 0) continue;
      for (const factor of factors) {
        // 10 ** -3 is not the double that is written 0.001, its text is.
        const value = Number(`${factor}e${e}`);
        const isWithin = value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9);
        if (isWithin && value > 0 && value < Infinity) values.push(value);
      }
    }
    return values;
  };
  const powers = within([1], 1).length;
  const values =
    powers > wanted
      ? within([1], Math.ceil(powers / wanted))
      : FACTORS.map((factors) => within(factors, 1)).findLast((found) => found.length <= wanted)!;
  if (values.length < Math.min(TICKS_MIN, wanted) && powers < 2) return linearTicks([low, high], wanted);
  return values.map((value) => ({ value, label: shortNumber(value) }));
}

/** The small number takes back what a logarithm of an exact power of ten loses. */
function exponentOf(value: number): number {
  return Math.floor(Math.log10(value) + 1e-9);
}

/** The place of the last digit of a distance that counts: 2.5 and 25 have two digits. */
function lastPlaceOf(step: number): number {
  const exponent = exponentOf(step);
  return Math.abs(step / 10 ** exponent - 2.5) < 1e-6 ? exponent - 1 : exponent;
}

function decimalsOf(step: number): number {
  return Math.min(20, Math.max(0, -lastPlaceOf(step)));
}

function withPower(value: number, step: number): string {
  if (value === 0) return "0";
  const digits = Math.min(20, Math.max(0, exponentOf(Math.abs(value)) - lastPlaceOf(step)));
  return value.toExponential(digits).replace(/(?:\.0+)?e\+?/, "e");
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Distances of ticks that clocks and calendars have, in milliseconds. */
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 28, 91, 182, 365].map((n) => n * DAY),
];

/** Returns ticks at round lengths of time, given in seconds: 0 s, 30 s, 1 min, … */
export function durationTicks([low, high]: Range, wanted: number): Tick[] {
  const rough = ((high - low) / wanted) * SECOND;
  const step = STEPS.find((candidate) => candidate >= rough);
  if (rough < SECOND || step === undefined)
    return linearTicks([low, high], wanted).map(({ value }) => ({ value, label: shortDuration(value) }));
  return multiples(low * SECOND, high * SECOND, step, 0).map((ms) => ({
    value: ms / SECOND,
    label: shortDuration(ms / SECOND),
  }));
}

/**
 * Returns ticks at round times of clocks and days, given in milliseconds since the Unix epoch. `offsetMinutes` is how far local time is ahead of UTC.
 * The first tick of a day shows the day.
 */
export function clockTicks([low, high]: Range, wanted: number, offsetMinutes: number): Tick[] {
  const rough = (high - low) / wanted;
  const step = STEPS.find((candidate) => candidate >= rough) ?? Math.ceil(rough / (365 * DAY)) * 365 * DAY;
  const offset = offsetMinutes * MINUTE;
  let dayBefore = "";
  return multiples(low, high, Math.max(step, SECOND), offset).map((value) => {
    const text = new Date(value + offset).toISOString();
    const [day, clock] = [text.slice(0, "2026-11-25".length), text.slice("2026-11-25T".length)];
    const isNewDay = day !== dayBefore;
    dayBefore = day;
    const time = clock.slice(0, step < MINUTE ? "12:00:00".length : "12:00".length);
    return { value, label: step >= DAY ? day : isNewDay ? `${day.slice("2026-".length)} ${time}` : time };
  });
}

function multiples(low: number, high: number, step: number, offset: number): number[] {
  const first = Math.ceil((low + offset) / step);
  const count = Math.max(0, Math.floor((high + offset) / step) - first + 1);
  return Array.from({ length: Math.min(count, 100) }, (_, i) => (first + i) * step - offset);
}
