import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { collect, fixturesFolder } from "../collect.fixture.ts";
import { expectSurvival } from "../damage.fixture.ts";
import { piecesOf } from "../disk-tree.fixture.ts";
import type { FileTree } from "../file-tree.ts";
import type { Item } from "../items.ts";
import { maskedCrc32c } from "./event-file.ts";
import { record } from "./event-file.fixture.ts";
import { readTensorboard } from "./read-tensorboard.ts";

const data = join(fixturesFolder, "tensorboard-2.21.0/data");
const files = ["events.out.tfevents.1795000000.fixture.0", "classic/deep/events.out.tfevents.1795000000.fixture.0"];

function readOne(bytes: Uint8Array): AsyncIterable<Item> {
  const tree: FileTree = {
    list: () => Promise.resolve([{ name: "events.out.tfevents.1", isFolder: false, size: bytes.length }]),
    read: () => piecesOf(bytes),
  };
  return readTensorboard(tree);
}

/** Where the records of a file end. */
function recordEnds(bytes: Buffer): number[] {
  const ends: number[] = [];
  for (let at = 0; at < bytes.length; at += Number(bytes.readBigUInt64LE(at)) + 16) if (at > 0) ends.push(at);
  return [...ends, bytes.length];
}

test.each(files)("a damaged %s gives what stands before the damage", async (file) => {
  const bytes = readFileSync(join(data, file));
  await expectSurvival({ bytes, read: readOne, ends: recordEnds(bytes), runs: 150 });
});

test.each(files)("changed events of %s with checks that fit end without an error", async (file) => {
  const bytes = readFileSync(join(data, file));
  const ends = recordEnds(bytes);
  const contents = ends.map((end, i) => bytes.subarray((ends[i - 1] ?? 0) + 12, end - 4));
  const index = fc.nat(contents.length - 1);
  const changed = fc.tuple(index, fc.nat(), fc.nat(255)).map(([i, at, byte]) => {
    const content = Buffer.from(contents[i]!);
    content[at % content.length] = byte;
    return content;
  });
  await fc.assert(
    fc.asyncProperty(fc.oneof(changed, fc.uint8Array({ maxLength: 60 })), async (content) => {
      const { runs } = await collect(readOne(Buffer.concat([bytes, record(content)])));
      expect(Object.keys(runs)).toEqual(["."]);
    }),
    { numRuns: 100 },
  );
});

test("a record that says it has more bytes than are taken is passed over", async () => {
  const header = Buffer.alloc(12);
  header.writeBigUInt64LE(2n ** 60n);
  header.writeUInt32LE(maskedCrc32c(header.subarray(0, 8)), 8);
  const { warnings } = await collect(readOne(header));
  expect(warnings["."]).toEqual({ torn_tail: 1 });
});
