import { createHash } from "node:crypto";
import { seededRandom } from "../seeded-random.ts";

const MIB = 1024 ** 2;
/** Contents are made of blocks of this length, each a piece of the tape. */
const BLOCK_BYTES = 32 * MIB;
const STARTS = 16 * 1024;
const START_BYTES = 4096;

/** A file that is uploaded. It has no bytes of its own: they are read from the tape. */
export type BenchFile = {
  readonly path: string;
  readonly sizeBytes: number;
  /** 64 lower-case hexadecimal digits. */
  readonly sha256: string;
  /** The bytes from `start` up to `end`, as views of the tape. */
  readonly pieces: (start: number, end: number) => readonly Uint8Array[];
};

/** Files that are uploaded together. */
export type FileSet = { readonly name: string; readonly files: readonly BenchFile[]; readonly bytes: number };

/** A set that can be made; its digests are computed then, once. */
export type PlannedSet = { readonly name: string; readonly make: () => FileSet };

/** The sets that are measured, with sizes or numbers of files multiplied by `scale`. */
export function planSets(scale: number): PlannedSet[] {
  let tape: Uint8Array | undefined;
  const plan = (name: string, files: number, megabytes: number): PlannedSet => ({
    name,
    make: () => makeSet((tape ??= makeTape()), name, files, megabytes),
  });
  const count = (files: number): number => Math.max(1, Math.round(files * scale));
  const large = Math.max(64, Math.round(2048 * scale));
  return [
    plan(`1 file of ${large.toLocaleString("en-US")} MiB`, 1, large),
    plan(`${count(8)} files of 256 MiB`, count(8), 256),
    plan(`${count(32)} files of 32 MiB, one PUT each`, count(32), 32),
  ];
}

/** Incompressible bytes, so that no file system and no server makes them fewer. */
function makeTape(): Uint8Array {
  const random = seededRandom(1);
  const words = Uint32Array.from({ length: (BLOCK_BYTES + STARTS * START_BYTES) / 4 }, () => random() * 2 ** 32);
  return new Uint8Array(words.buffer);
}

function makeSet(tape: Uint8Array, name: string, files: number, megabytes: number): FileSet {
  const made = Array.from({ length: files }, (_, number) => makeFile(tape, number, megabytes * MIB));
  return { name, files: made, bytes: files * megabytes * MIB };
}

function makeFile(tape: Uint8Array, number: number, sizeBytes: number): BenchFile {
  const pieces = (start: number, end: number): Uint8Array[] => {
    const found: Uint8Array[] = [];
    for (let at = start; at < end;) {
      const block = Math.floor(at / BLOCK_BYTES);
      const next = Math.min(end, (block + 1) * BLOCK_BYTES);
      // Both factors are odd, so neither two files nor two blocks of a file begin alike.
      const first = ((number * 1009 + block * 31) % STARTS) * START_BYTES - block * BLOCK_BYTES;
      found.push(tape.subarray(first + at, first + next));
      at = next;
    }
    return found;
  };
  const hash = createHash("sha256");
  for (const piece of pieces(0, sizeBytes)) hash.update(piece);
  return { path: `files/${number}.bin`, sizeBytes, sha256: hash.digest("hex"), pieces };
}
