/** The numbers at these indexes. */
export function pick(numbers: Float64Array, indexes: Uint32Array): Float64Array<ArrayBuffer> {
  const picked = new Float64Array(indexes.length);
  for (let i = 0; i < indexes.length; i++) picked[i] = numbers[indexes[i]!]!;
  return picked;
}
