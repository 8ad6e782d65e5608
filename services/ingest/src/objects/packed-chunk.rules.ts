/** A stored chunk of a table. */
export type PackedChunk = {
  /** A byte that says how, then the message, compressed when that makes it smaller. */
  readonly rows: Buffer;
  /** Logical bytes: of the JSON texts of the cells, and one for each cell. */
  readonly bytes: number;
};
