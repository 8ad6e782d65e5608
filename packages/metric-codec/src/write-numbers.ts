import type { ByteWriter } from "./byte-writer.ts";
import { planBits } from "./plan-bits.ts";
import { planDecimals } from "./plan-decimals.ts";
import { planDictionary } from "./plan-dictionary.ts";
import { CONSTANT, NUMBER_HEADER_BYTES, RAW } from "./number-layout.ts";
import { writePlan } from "./number-plan.ts";
import type { NumberPlan } from "./number-plan.ts";
import { wordsOf } from "./words.ts";

/**
 * How much work the numbers are worth: "best" is for those that will not be written again. "fast" leaves doubles of full precision raw: the
 * seventh that can be saved of most of them takes longer than everything else.
 */
export type Effort = "fast" | "best";

/** Raw numbers are read without any work: others have to take less than this share of their bytes. */
const WORTH_PACKING = 0.95;
/** Fewer numbers than these could save a few bytes at most; wide runs have many such columns. */
const WORTH_PACKING_FROM = 4;

/** The most bytes that {@link writeNumbers} takes for so many numbers. */
export function numberBytesMax(count: number): number {
  return NUMBER_HEADER_BYTES + 8 * count;
}

/** Writes the numbers in the smallest way, as far as that is worth the time to read them, and returns where they start. */
export function writeNumbers(writer: ByteWriter, numbers: Float64Array, effort: Effort): number {
  const start = writer.at;
  writePlan(writer, planNumbers(numbers, effort), numbers.length);
  return start;
}

function planNumbers(numbers: Float64Array, effort: Effort): NumberPlan {
  const raw = planRaw(numbers);
  if (numbers.length < 2) return raw;
  if (isConstant(numbers)) return planConstant(numbers[0]!);
  if (numbers.length < WORTH_PACKING_FROM) return raw;
  const decimals = planDecimals(numbers);
  const small = decimals !== null && decimals.bytes < raw.bytes / 4;
  const plans = [
    decimals,
    effort === "best" || (!small && haveZerosBelow(numbers)) ? planBits(numbers) : null,
    effort === "best" ? planDictionary(numbers) : null,
  ];
  let best = raw;
  for (const plan of plans) {
    if (plan !== null && plan.bytes < best.bytes && plan.bytes <= WORTH_PACKING * raw.bytes) best = plan;
  }
  return best;
}

function planRaw(numbers: Float64Array): NumberPlan {
  return {
    codec: RAW,
    width: 0,
    parameter: 0,
    bytes: 8 * numbers.length,
    write: (writer) => writer.f64.set(numbers, writer.at / 8),
  };
}

function planConstant(number: number): NumberPlan {
  return {
    codec: CONSTANT,
    width: 0,
    parameter: 0,
    bytes: 8,
    write(writer) {
      writer.f64[writer.at / 8] = number;
    },
  };
}

/** Whether the first few numbers make do with fewer bits than a double has, as those that were rounded to fewer do. */
function haveZerosBelow(numbers: Float64Array): boolean {
  const words = wordsOf(numbers);
  let used = 0;
  for (let i = 0; i < words.length && i < 32; i += 2) used |= words[i]!;
  return (used & 0xffff) === 0;
}

/** Whether all numbers have the same bits. */
function isConstant(numbers: Float64Array): boolean {
  const words = wordsOf(numbers);
  const [low, high] = words;
  for (let i = 2; i < words.length; i += 2) if (words[i] !== low || words[i + 1] !== high) return false;
  return true;
}
