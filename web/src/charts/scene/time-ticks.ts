import type { Range } from "./scale.ts";
import { shortDuration } from "./numbers.ts";
import { linearTicks, type Tick } from "./ticks.ts";

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
