import type { FileTree } from "../file-tree.ts";
import { piecesOf } from "../disk-tree.fixture.ts";
import { maskedCrc32c } from "./event-file.ts";

/** Returns a record of an event file whose checks fit, so that its content is read. */
export function record(content: Uint8Array): Buffer {
  const length = Buffer.alloc(12);
  length.writeBigUInt64LE(BigInt(content.length));
  length.writeUInt32LE(maskedCrc32c(length.subarray(0, 8)), 8);
  const check = Buffer.alloc(4);
  check.writeUInt32LE(maskedCrc32c(content));
  return Buffer.concat([length, content, check]);
}

/** Returns the record of a value of `loss`. */
export function lossAt(step: bigint, value: number): Buffer {
  const number = Buffer.alloc(4);
  number.writeFloatLE(value);
  const summaryValue = Buffer.concat([field(1, Buffer.from("loss")), Buffer.from([(2 << 3) | 5]), number]);
  return record(Buffer.concat([stepField(step), field(5, field(1, summaryValue))]));
}

/** Returns the record with which a writer says that it starts at a step, as tensorboardX and PyTorch do for a `purge_step`. */
export function startAt(step: bigint): Buffer {
  return record(Buffer.concat([stepField(step), field(7, Buffer.from([1 << 3, 1]))]));
}

/** Returns a folder of event files, which are lists of records. */
export function eventFiles(...files: readonly (readonly Buffer[])[]): FileTree {
  const contents = new Map(files.map((records, i) => [`events.out.tfevents.${i}`, Buffer.concat(records)]));
  return {
    list: (folder) =>
      Promise.resolve(
        folder === "" ? Array.from(contents, ([name, { length: size }]) => ({ name, isFolder: false, size })) : [],
      ),
    read: (file) => piecesOf(contents.get(file)!),
  };
}

/** A step of 0 is not written, as protobuf has it. */
function stepField(step: bigint): Buffer {
  return step === 0n ? Buffer.alloc(0) : Buffer.concat([Buffer.from([2 << 3]), varint(step)]);
}

function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2]), varint(BigInt(content.length)), content]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(left)]);
}
