import type { Range } from "./lines.ts";

/** Where an axis has its ticks, in ascending order. */
export type Ticks = {
  readonly values: readonly number[];
  /** The distance between two of them; 0 where there is none. */
  readonly step: number;
};

/** Returns the multiples of 1, 2 or 5 times a power of ten between two finite numbers: about `wanted` of them, at most one more. */
export function roundTicks([low, high]: Range, wanted: number): Ticks {
  const rough = high / wanted - low / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? 0;
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  // Numbers that are nearly equal for their size have no multiples between them that a double can tell apart.
  const isFine = step > 0 && Number.isFinite(step) && Number.isSafeInteger(first) && count >= 1;
  if (!isFine) return { values: low === high ? [low] : [low, high], step: 0 };
  const values = Array.from({ length: Math.min(count, wanted + 1) }, (_, i) => (first + i) * step);
  return { values, step };
}

/** Returns the range from the multiple of the step at or below the low end to the one at or above the high end, so that both ends have ticks. */
export function roundRange([low, high]: Range, { step }: Pick<Ticks, "step">): Range {
  if (step === 0) return [low, high];
  const [from, to] = [Math.floor(low / step) * step, Math.ceil(high / step) * step];
  return Number.isFinite(from) && Number.isFinite(to) ? [from, to] : [low, high];
}

const UNITS = [
  { size: 1e9, suffix: "G" },
  { size: 1e6, suffix: "M" },
  { size: 1e3, suffix: "k" },
] as const;

/** From here on numbers are written with a unit; beyond the next two with a power of ten. */
const UNIT_MIN = 1e4;
const POWER_MIN = 1e13;
const POWER_BELOW = 1e-3;

/** Most decimals of a number with a unit. */
const UNIT_DECIMALS_MAX = 2;

/** Writes the ticks of an axis, all in one notation, with as many digits as tell them apart. */
export function tickLabels({ values, step }: Ticks): string[] {
  const largest = Math.max(...values.map(Math.abs));
  if (step === 0) return values.map(shortNumber);
  if (largest >= POWER_MIN || largest < POWER_BELOW) return values.map((value) => withPower(value, step));
  const unit = largest < UNIT_MIN ? undefined : UNITS.find(({ size }) => largest >= size);
  if (unit !== undefined && decimalsOf(step / unit.size) <= UNIT_DECIMALS_MAX) {
    const decimals = decimalsOf(step / unit.size);
    return values.map((value) => (value === 0 ? "0" : `${(value / unit.size).toFixed(decimals)}${unit.suffix}`));
  }
  return values.map((value) => (value === 0 ? "0" : value.toFixed(decimalsOf(step))));
}

/** Pixels of a character of a label, and between two labels in one row. */
export const CHARACTER_PIXELS = 6.7;
const LABELS_APART = 14;

/** Returns as many ticks of a horizontal axis as have room for their labels, and the labels. */
export function ticksWithin(
  range: Range,
  pixels: number,
): { readonly values: readonly number[]; readonly labels: readonly string[] } {
  for (let wanted = Math.max(1, Math.floor(pixels / (4 * CHARACTER_PIXELS))); ; wanted -= 1) {
    const ticks = roundTicks(range, wanted);
    const labels = tickLabels(ticks);
    const widest = Math.max(...labels.map((label) => label.length)) * CHARACTER_PIXELS;
    const distance = ticks.step === 0 ? pixels : pixels * (ticks.step / (range[1] - range[0]));
    if (wanted === 1 || distance >= widest + LABELS_APART) return { values: ticks.values, labels };
  }
}

/** Writes a number with five digits that count. */
export function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (size >= POWER_MIN || (size > 0 && size < POWER_BELOW)) return value.toExponential(4).replace(/\.?0*e\+?/, "e");
  return String(
    Number.isInteger(value) ? value : Number(value.toPrecision(Math.max(5, String(Math.trunc(size)).length))),
  );
}

/** A step has one digit that counts; the small number takes back what a logarithm of an exact power of ten loses. */
function exponentOf(value: number): number {
  return Math.floor(Math.log10(value) + 1e-9);
}

function decimalsOf(step: number): number {
  return Math.min(20, Math.max(0, -exponentOf(step)));
}

function withPower(value: number, step: number): string {
  if (value === 0) return "0";
  const digits = Math.min(20, Math.max(0, exponentOf(Math.abs(value)) - exponentOf(step)));
  return value.toExponential(digits).replace(/(?:\.0+)?e\+?/, "e");
}
