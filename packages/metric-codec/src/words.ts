/** The bits of the doubles, two words each, the lower one first: a view. */
export function wordsOf(numbers: Float64Array): Int32Array {
  return new Int32Array(numbers.buffer, numbers.byteOffset, 2 * numbers.length);
}
