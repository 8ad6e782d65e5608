/** A buffer that is filled from its start; `at` is the next free byte, between parts a multiple of 8. */
export type ByteWriter = {
  readonly u8: Uint8Array<ArrayBuffer>;
  readonly u32: Uint32Array<ArrayBuffer>;
  /** The same words as numbers with a sign, which take no conversion when their bits are moved. */
  readonly i32: Int32Array<ArrayBuffer>;
  readonly f64: Float64Array<ArrayBuffer>;
  at: number;
};

/** A writer with memory for so many bytes, all zero. */
export function createByteWriter(bytesMax: number): ByteWriter {
  const buffer = new ArrayBuffer(fullWords(bytesMax));
  return {
    u8: new Uint8Array(buffer),
    u32: new Uint32Array(buffer),
    i32: new Int32Array(buffer),
    f64: new Float64Array(buffer),
    at: 0,
  };
}

/** The next multiple of 8. */
export function fullWords(bytes: number): number {
  return 8 * Math.ceil(bytes / 8);
}
