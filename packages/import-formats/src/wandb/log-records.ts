import { crc32 } from "node:zlib";
import { createByteSource } from "../bytes/byte-source.ts";
import type { Warnings } from "../warnings.ts";

/** Most bytes of a record; larger records are skipped. */
const RECORD_BYTES_MAX = 64 * 1024 * 1024;

const BLOCK_BYTES = 32 * 1024;
const CHUNK_HEADER_BYTES = 7;

/** `:W&B`, the number 0xBEE1 and the version 0 (wandb/core/pkg/leveldb). */
const FILE_HEADER = Buffer.from([0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0]);

/** The position of a chunk in its record. */
const chunkTypes = { full: 1, first: 2, middle: 3, last: 4 } as const;

/** Returns whether bytes are the beginning of a W&B file. */
function isWandbFile(beginning: Uint8Array): boolean {
  return FILE_HEADER.equals(beginning.subarray(0, FILE_HEADER.length));
}

/**
 * Yields the records of a `.wandb` file: a log of LevelDB in blocks of 32 KiB, whose chunks have a plain CRC-32 over their type and data. After a chunk
 * that is damaged the rest of its block is lost; a record that the file ends in is not yielded.
 */
export async function* logRecords(
  pieces: AsyncIterable<Uint8Array>,
  warnings: Warnings,
  file: string,
): AsyncGenerator<Buffer> {
  const source = createByteSource(pieces);
  const gathered = createGatherer(warnings, file);
  try {
    for (let first = true; ; first = false) {
      const block = await source.take(BLOCK_BYTES);
      if (block.length === 0 && first) return;
      if (first && !isWandbFile(block)) {
        const isTorn = FILE_HEADER.subarray(0, block.length).equals(block);
        return warnings.add(isTorn ? "torn_tail" : "damaged", `${file}: it does not begin as a file of W&B`);
      }
      yield* readBlock(block, first ? FILE_HEADER.length : 0, gathered, () => warnings.add("damaged", file));
      if (block.length < BLOCK_BYTES) break;
    }
  } finally {
    await source.close();
  }
  gathered.end();
}

/** Puts the chunks of records together. */
type Gatherer = {
  /** Adds a chunk and returns the record that ends with it. */
  add(type: number, data: Buffer): Buffer | undefined;
  /** Forgets the record that was begun: a chunk of it is damaged. */
  forget(): void;
  /** Says that the bytes end within a chunk. */
  tear(): void;
  /** Counts the record that the file ends in. */
  end(): void;
};

function createGatherer(warnings: Warnings, file: string): Gatherer {
  let parts: Buffer[] = [];
  let [bytes, open, torn] = [0, false, false];
  const reset = (): void => {
    [parts, bytes, open] = [[], 0, false];
  };
  return {
    add(type, data) {
      if (type === chunkTypes.full || type === chunkTypes.first) {
        if (open) warnings.add("damaged", file);
        reset();
        open = true;
      } else if (!open) return undefined;
      bytes += data.length;
      if (bytes <= RECORD_BYTES_MAX) parts.push(data);
      else parts = [];
      if (type === chunkTypes.first || type === chunkTypes.middle) return undefined;
      if (bytes > RECORD_BYTES_MAX) warnings.add("too_large", file);
      const record = bytes > RECORD_BYTES_MAX ? undefined : parts.length === 1 ? parts[0]! : Buffer.concat(parts);
      reset();
      return record;
    },
    forget: reset,
    tear() {
      torn = true;
    },
    end() {
      if (open || torn) warnings.add("torn_tail", file);
    },
  };
}

function* readBlock(block: Buffer, from: number, gathered: Gatherer, damaged: () => void): Generator<Buffer> {
  const whole = block.length === BLOCK_BYTES;
  let at = from;
  while (block.length - at >= CHUNK_HEADER_BYTES) {
    const data = at + CHUNK_HEADER_BYTES;
    const end = data + block.readUInt16LE(at + 4);
    const type = block[at + 6]!;
    if (end > block.length && !whole) return gathered.tear();
    const fits = end <= block.length && block.readUInt32LE(at) === crc32(block.subarray(at + 6, end));
    if (!fits || type < chunkTypes.full || type > chunkTypes.last) {
      damaged();
      return gathered.forget();
    }
    at = end;
    const record = gathered.add(type, block.subarray(data, end));
    if (record !== undefined) yield record;
  }
  if (!whole && block.length > at) gathered.tear();
}
