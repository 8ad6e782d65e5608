/** Chunks of a body as they arrived, at a cost proportional to their bytes. */
export type BodyPieces = {
  /** Adds a chunk. */
  readonly add: (chunk: Buffer) => void;
  /** Returns all chunks in as few pieces as possible; afterwards none can be added. */
  readonly take: () => readonly Buffer[];
};

/** Chunks from this size on are kept unchanged; smaller ones are copied together, because each costs some 700 bytes by itself. */
export const KEPT_BYTES_MIN = 4096;
const GATHERED_BYTES_MIN = 4096;
const GATHERED_BYTES_MAX = 64 * 1024;

/** Collects the chunks of one body. */
export function createBodyPieces(): BodyPieces {
  const pieces: Buffer[] = [];
  let only: Buffer | undefined;
  let gathered: Buffer | undefined;
  let used = 0;

  const closeGathered = (): void => {
    if (gathered !== undefined && used > 0) pieces.push(gathered.subarray(0, used));
    gathered = undefined;
    used = 0;
  };

  const gather = (chunk: Buffer): void => {
    if (gathered !== undefined && used + chunk.length > gathered.length) {
      if (gathered.length >= GATHERED_BYTES_MAX) closeGathered();
      else {
        const larger = Buffer.allocUnsafeSlow(2 * gathered.length);
        gathered.copy(larger, 0, 0, used);
        gathered = larger;
      }
    }
    gathered ??= Buffer.allocUnsafeSlow(GATHERED_BYTES_MIN);
    used += chunk.copy(gathered, used);
  };

  const addNext = (chunk: Buffer): void => {
    if (chunk.length < KEPT_BYTES_MIN) {
      gather(chunk);
      return;
    }
    closeGathered();
    pieces.push(chunk);
  };

  return {
    add(chunk) {
      // Most bodies are one chunk, which need not be copied, regardless of its size.
      if (only === undefined && pieces.length === 0 && gathered === undefined) {
        only = chunk;
        return;
      }
      if (only !== undefined) {
        addNext(only);
        only = undefined;
      }
      addNext(chunk);
    },
    take() {
      if (only !== undefined) return [only];
      closeGathered();
      return pieces;
    },
  };
}
