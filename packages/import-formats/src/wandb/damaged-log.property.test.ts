import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { collect, fixturesFolder } from "../collect.fixture.ts";
import { expectSurvival } from "../damage.fixture.ts";
import { piecesOf } from "../disk-tree.fixture.ts";
import type { FileTree } from "../file-tree.ts";
import type { Item } from "../items.ts";
import { readWandb } from "./read-wandb.ts";

const BLOCK_BYTES = 32 * 1024;

function logOf(version: string): Buffer {
  const folder = join(fixturesFolder, version, "data/wandb");
  const run = readdirSync(folder).find((name) => name.endsWith("-main"))!;
  return readFileSync(join(folder, run, "run-main.wandb"));
}

function readOne(bytes: Uint8Array): AsyncIterable<Item> {
  const tree: FileTree = {
    list: (folder) => Promise.resolve(folder === "" ? [{ name: "run-main.wandb", isFolder: false, size: 0 }] : []),
    read: () => piecesOf(bytes),
  };
  return readWandb(tree);
}

/** The places of the chunks of a file, and of the zeros between blocks. */
function chunksOf(bytes: Buffer): { from: number; end: number; type: number }[] {
  const chunks: { from: number; end: number; type: number }[] = [];
  for (let at = 7; at < bytes.length;) {
    const left = BLOCK_BYTES - (at % BLOCK_BYTES);
    const end = left < 7 ? at + left : at + 7 + bytes.readUInt16LE(at + 4);
    chunks.push({ from: at, end, type: left < 7 ? 0 : bytes[at + 6]! });
    at = end;
  }
  return chunks;
}

test.each(["wandb-0.15.12", "wandb-0.31.0"])(
  "a damaged log of %s gives what stands before the damage",
  async (version) => {
    const bytes = logOf(version);
    const ends = chunksOf(bytes).flatMap(({ end, type }) => (type === 2 || type === 3 ? [] : [end]));
    await expectSurvival({ bytes, read: readOne, ends: [7, ...ends], runs: 80 });
  },
);

test("after a damaged chunk the next block is read", async () => {
  const bytes = logOf("wandb-0.31.0");
  const whole = (await collect(readOne(bytes))).runs["main"]!.points["loss"]!;
  const { from } = chunksOf(bytes)[20]!;
  bytes[from + 8]! ^= 1;
  const { runs, warnings } = await collect(readOne(bytes));
  const kept = runs["main"]!.points["loss"]!;
  expect(kept.at(-1)).toEqual(whole.at(-1));
  expect(kept.length).toBeLessThan(whole.length);
  expect(warnings["main"]).toMatchObject({ damaged: 1 });
});

test("changed records with checksums that fit end without an error", async () => {
  const bytes = logOf("wandb-0.31.0");
  const chunks = chunksOf(bytes).filter(({ type, end }) => type === 1 && end < BLOCK_BYTES);
  const change = fc.tuple(fc.nat(chunks.length - 1), fc.nat(), fc.nat(255));
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 10 }), async (changes) => {
      const changed = Buffer.from(bytes);
      for (const [i, at, byte] of changes) {
        const { from, end } = chunks[i]!;
        changed[from + 7 + (at % (end - from - 7))] = byte;
        changed.writeUInt32LE(crc32(changed.subarray(from + 6, end)), from);
      }
      const { runs } = await collect(readOne(changed));
      expect(Object.keys(runs)).toHaveLength(1);
    }),
    { numRuns: 100 },
  );
});
