import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from "@jest/globals";
import { AppError } from "@tidemark/errors";
import { createLog } from "@tidemark/telemetry";
import { until } from "@tidemark/testkit";
import { createSpool, type Spool, type Whose } from "./spool.ts";

const KEPT_MS = 400;
const PIECE = 256 * 1024;
const MIB = 1024 * 1024;
const log = createLog({ level: "silent", service: "test" });
const mine: Whose = { orgId: "a", caller: "1", address: "x" };

let directory = "";
let spool: Spool;
beforeAll(async () => {
  directory = join(await mkdtemp(join(tmpdir(), "tidemark-spool-")), "exports");
});
afterAll(() => rm(join(directory, ".."), { recursive: true }));
beforeEach(() => {
  spool = createSpool({ directory, bytesMax: 16 * MIB, log, keptMs: KEPT_MS });
});
afterEach(() => spool.close());

/** Pieces that differ from each other, and whether they were read to their end or abandoned. */
function source(count: number) {
  const state = { given: 0, isOver: false };
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for (; state.given < count; state.given += 1) yield Buffer.alloc(PIECE, state.given);
    } finally {
      state.isOver = true;
    }
  }
  return { state, begin: () => Promise.resolve({ pieces: pieces(), headers: () => ({ "x-a": "1" }) }) };
}

const expected = (count: number): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, number) => Buffer.alloc(PIECE, number)));

const read = async (pieces: AsyncIterable<Uint8Array>): Promise<Buffer> => Buffer.concat(await Array.fromAsync(pieces));

describe("an export", () => {
  test("is written to its end before anyone reads it, and read by several from any place", async () => {
    const { state, begin } = source(10);
    const kept = await spool.begin(mine, begin);
    expect(await kept.whole()).toBe(10 * PIECE);
    expect([state.isOver, kept.sizeBytes(), kept.headers()]).toEqual([true, 10 * PIECE, { "x-a": "1" }]);
    const [all, some] = await Promise.all([read(kept.read()), read(kept.read({ start: PIECE - 1, end: PIECE + 2 }))]);
    expect(all.equals(expected(10))).toBe(true);
    expect([...some]).toEqual([0, 1, 1]);
    expect(spool.held()).toEqual({ exports: 1, bytes: 10 * PIECE });
    kept.release();
  });

  test("is read while it is written, as far as it is there", async () => {
    const more = Promise.withResolvers<void>();
    const kept = await spool.begin(mine, () =>
      Promise.resolve({
        pieces: (async function* pieces() {
          yield Buffer.alloc(PIECE, 1);
          await more.promise;
          yield Buffer.alloc(10, 2);
        })(),
        headers: () => ({}),
      }),
    );
    const pieces = kept.read();
    expect((await pieces.next()).value).toHaveLength(PIECE);
    expect(kept.sizeBytes()).toBeUndefined();
    const last = pieces.next();
    more.resolve();
    expect([...(await last).value!]).toEqual(Array.from({ length: 10 }, () => 2));
    expect((await pieces.next()).done).toBe(true);
    kept.release();
  });

  test("has no file that another process could find", async () => {
    const kept = await spool.begin(mine, source(3).begin);
    await kept.whole();
    expect(await readdir(directory)).toEqual([]);
    kept.release();
  });

  test("fails for its readers with what broke it off, and is not found afterwards", async () => {
    const kept = await spool.begin(mine, () =>
      Promise.resolve({
        // oxlint-disable-next-line require-yield -- fails before its first piece
        pieces: (async function* pieces() {
          throw new AppError("not_found", "run not found");
        })(),
        headers: () => ({}),
      }),
    );
    await expect(kept.read().next()).rejects.toMatchObject({ reason: "not_found" });
    await expect(kept.whole()).rejects.toMatchObject({ reason: "not_found" });
    expect(spool.find(mine, undefined)).toBeUndefined();
    kept.release();
  });

  test("that does not begin takes no place", async () => {
    const refused = new AppError("bad_request", "no");
    for (let i = 0; i < 40; i += 1)
      await expect(spool.begin(mine, () => Promise.reject(refused))).rejects.toBe(refused);
    (await spool.begin(mine, source(1).begin)).release();
  });

  test("is given up when no one has requested it for some time, also while it is written", async () => {
    const { state, begin } = source(Number.POSITIVE_INFINITY);
    const kept = await spool.begin({ ...mine, orgId: "b" }, () =>
      begin().then(({ pieces, headers }) => ({
        pieces: (async function* slow() {
          for await (const piece of pieces) {
            yield piece;
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        })(),
        headers,
      })),
    );
    kept.release();
    await until("the pieces are given up", () => state.isOver);
    expect(spool.find({ ...mine, orgId: "b" }, kept.tag)).toBeUndefined();
  });
});

describe("a kept export is found", () => {
  test("by its caller at its address alone", async () => {
    const kept = await spool.begin(mine, source(1).begin);
    for (const other of [{ orgId: "b" }, { caller: "2" }, { address: "y" }]) {
      expect(spool.find({ ...mine, ...other }, undefined)).toBeUndefined();
      expect(spool.find({ ...mine, ...other }, kept.tag)).toBeUndefined();
    }
    expect(spool.find(mine, "another")).toBeUndefined();
    const found = spool.find(mine, kept.tag)!;
    expect(found.tag).toBe(kept.tag);
    for (const one of [found, kept]) one.release();
  });

  test("without a tag as the latest", async () => {
    const first = await spool.begin(mine, source(1).begin);
    const second = await spool.begin(mine, source(1).begin);
    spool.find(mine, first.tag)!.release();
    const found = spool.find(mine, undefined)!;
    expect(found.tag).toBe(second.tag);
    for (const one of [first, second, found]) one.release();
  });

  test("until some time after its last request", async () => {
    const kept = await spool.begin(mine, source(1).begin);
    await new Promise((resolve) => setTimeout(resolve, 2 * KEPT_MS));
    spool.find(mine, kept.tag)!.release();
    kept.release();
    await new Promise((resolve) => setTimeout(resolve, 3 * KEPT_MS));
    expect(spool.find(mine, kept.tag)).toBeUndefined();
  });
});

test("bytes of one organization end at its share, and others have room", async () => {
  const large = await spool.begin(mine, source(17).begin);
  await expect(large.whole()).rejects.toMatchObject({ reason: "rate_limit_exceeded" });
  const fitting = await spool.begin(mine, source(15).begin);
  const other = await spool.begin({ ...mine, orgId: "b" }, source(15).begin);
  expect([await fitting.whole(), await other.whole()]).toEqual([15 * PIECE, 15 * PIECE]);
  // Exports without a reader make room for the one requested now.
  fitting.release();
  const next = await spool.begin(mine, source(10).begin);
  expect(await next.whole()).toBe(10 * PIECE);
  expect(spool.find(mine, fitting.tag)).toBeUndefined();
  for (const one of [large, other, next]) one.release();
});

test("a dropped export ends for those who read it", async () => {
  const never = Promise.withResolvers<void>();
  const kept = await spool.begin(mine, () =>
    Promise.resolve({
      pieces: (async function* pieces() {
        yield Buffer.alloc(PIECE);
        await never.promise;
      })(),
      headers: () => ({}),
    }),
  );
  const pieces = kept.read();
  await pieces.next();
  const next = pieces.next();
  kept.drop();
  await expect(next).rejects.toMatchObject({ reason: "service_unavailable" });
  expect(spool.find(mine, kept.tag)).toBeUndefined();
  never.resolve();
  kept.release();
});
