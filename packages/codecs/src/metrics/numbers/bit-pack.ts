import { freshMemory, type NumberBuffer } from "./bytes.ts";

/** Returns the bytes of `count` numbers of `width` bits (0 to 32) one after another, filled up to a multiple of 8. */
export function packedBytes(count: number, width: number): number {
  return 8 * Math.ceil((count * width) / 64);
}

/** Returns the bits that numbers from 0 to `greatest` need; more than 32 if they cannot be packed. */
export function bitWidth(greatest: number): number {
  return greatest > 0xffff_ffff ? 64 : 32 - Math.clz32(greatest);
}

/**
 * Writes numbers of `width` bits (0 to 32) one after another into words that are zero, from the lowest bit of the word at index `at` on.
 * `numbers` must fit into `width` bits each.
 */
export function packBits(words: Int32Array, at: number, numbers: Int32Array, count: number, width: number): void {
  if (width === 0) return;
  if (width === 32) {
    words.set(numbers.subarray(0, count), at);
    return;
  }
  let word = at;
  let used = 0;
  let pending = 0;
  for (let i = 0; i < count; i++) {
    const number = numbers[i]!;
    pending |= number << used;
    used += width;
    if (used < 32) continue;
    words[word++] = pending;
    used -= 32;
    pending = used === 0 ? 0 : number >>> (width - used);
  }
  if (used > 0) words[word] = pending;
}

/** Reads the numbers that {@link packBits} wrote into `memory`, as signed words; those of 32 bits are a view. */
export function unpackBits(
  words: Int32Array,
  at: number,
  count: number,
  width: number,
  memory: NumberBuffer = freshMemory,
): Int32Array {
  if (width === 32) return words.subarray(at, at + count);
  const numbers = memory.words(count);
  if (width === 0) return numbers.fill(0);
  if (count === 0) return numbers;
  const mask = -1 >>> (32 - width);
  const last = at + Math.ceil((count * width) / 32) - 1;
  let word = at;
  let used = 0;
  let current = words[word]!;
  for (let i = 0; i < count; i++) {
    let number = current >>> used;
    used += width;
    if (used >= 32 && word < last) {
      used -= 32;
      word += 1;
      current = words[word]!;
      if (used > 0) number |= current << (width - used);
    }
    numbers[i] = number & mask;
  }
  return numbers;
}
