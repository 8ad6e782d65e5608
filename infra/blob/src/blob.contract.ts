import { randomBytes, randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Blob, BlobEntry } from "./blob.ts";
import { partsContract } from "./blob-parts.contract.ts";
import { bytes, collect, countedSource, LARGE_BYTES, MiB, sha256, streamOf } from "./bodies.fixture.ts";

async function all(entries: AsyncIterable<BlobEntry>): Promise<BlobEntry[]> {
  const result: BlobEntry[] = [];
  for await (const entry of entries) result.push(entry);
  return result;
}

/** Where a driver that stores bodies in parts begins a new one. */
const partBytes = 5 * MiB;

/** The contract of every object store driver; with `bodiesAlone` only that of bodies, for a second way of the same driver to store them. */
export function blobContract(open: () => Promise<Blob>, { bodiesAlone = false } = {}): void {
  let blob: Blob;
  let org: string;
  let key: string;
  const noise = randomBytes(2 * partBytes + 3);

  beforeAll(async () => {
    blob = await open();
  });
  beforeEach(() => {
    org = randomUUID();
    key = `o/${org}/${randomUUID()}`;
  });
  const stored = async (): Promise<Buffer> => collect((await blob.get(key))?.body);

  describe("put and get", () => {
    test("bytes are read back unchanged, and the result has their length and hash", async () => {
      const result = await blob.put(key, bytes("héllo"), { contentType: "text/plain" });
      expect(result).toEqual({ sizeBytes: 6, sha256: sha256(bytes("héllo")), etag: expect.stringMatching(/^[^"]+$/) });
      expect(await blob.get(key)).toMatchObject({ sizeBytes: 6 });
      expect((await stored()).toString()).toBe("héllo");
    });

    test.each([
      ["nothing at all", [], 0],
      ["a stream of empty pieces", [new Uint8Array(), new Uint8Array()], undefined],
      ["a stream of announced length", [bytes("ab"), new Uint8Array(), bytes("cde")], 5],
      ["a stream of unknown length", [bytes("ab"), bytes("cde")], undefined],
      ["an announced length of several parts", [noise], noise.byteLength],
      ["an unknown length of several parts", [noise.subarray(0, 7), noise.subarray(7)], undefined],
      ["an announced length that ends with a part", [noise.subarray(0, 2 * partBytes)], 2 * partBytes],
      ["an unknown length that ends with a part", [noise.subarray(0, 2 * partBytes)], undefined],
    ])("%s", async (_, pieces, size) => {
      const result = await blob.put(key, streamOf(...pieces), size === undefined ? {} : { size });
      expect(result).toMatchObject({ sizeBytes: Buffer.concat(pieces).byteLength, sha256: sha256(...pieces) });
      expect((await stored()).equals(Buffer.concat(pieces))).toBe(true);
    });

    test("a large body passes through without being held: the source is asked no faster than the store takes it", async () => {
      const { source, mostHeld } = countedSource(LARGE_BYTES);
      const result = await blob.put(key, source(), { size: LARGE_BYTES });
      expect(result.sizeBytes).toBe(LARGE_BYTES);
      expect(mostHeld()).toBeLessThan(LARGE_BYTES / 2);
    });

    test("a new body replaces the old one", async () => {
      await blob.put(key, bytes("a longer first body"));
      await blob.put(key, bytes("second"));
      expect((await stored()).toString()).toBe("second");
      expect(await all(blob.list(`o/${org}/`))).toHaveLength(1);
    });

    test("20 simultaneous bodies for one key leave one of them, whole", async () => {
      const bodies = Array.from({ length: 20 }, (_, i) => Buffer.alloc(100_000 + i, i));
      await Promise.all(bodies.map((body) => blob.put(key, body)));
      const result = await stored();
      expect(bodies.some((body) => body.equals(result))).toBe(true);
    });

    test.each([
      ["the beginning", 0, 3, "012"],
      ["the middle", 4, 6, "45"],
      ["one byte", 9, 10, "9"],
      ["all", 0, 10, "0123456789"],
      ["beyond the end", 7, 100, "789"],
      ["from the end on", 10, 20, ""],
      ["far behind the end", 50, 60, ""],
      ["nothing", 3, 3, ""],
    ])("a range reads %s", async (_, start, end, expected) => {
      await blob.put(key, bytes("0123456789"));
      const part = await blob.get(key, { start, end });
      expect(part?.sizeBytes).toBe(10);
      expect((await collect(part?.body)).toString()).toBe(expected);
    });

    test("reading may break off", async () => {
      await blob.put(key, noise);
      const found = await blob.get(key);
      for await (const piece of found?.body ?? []) {
        expect(noise.subarray(0, piece.byteLength).equals(piece)).toBe(true);
        break;
      }
      expect((await stored()).byteLength).toBe(noise.byteLength);
    });
  });

  describe("a body that fails", () => {
    const broken = new Error("the client went away");
    async function* breaksAfter(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
      yield* pieces;
      throw broken;
    }
    const badRequest = { name: "AppError", reason: "bad_request" };

    test.each([
      ["shorter than announced", () => streamOf(bytes("abc")), 4, badRequest],
      ["longer than announced", () => streamOf(bytes("abc"), bytes("de")), 4, badRequest],
      ["longer than announced by a piece", () => streamOf(bytes("abcd"), bytes("e")), 4, badRequest],
      ["longer than an announced nothing", () => streamOf(bytes("a")), 0, badRequest],
      ["bytes of another length than announced", () => bytes("abc"), 2, badRequest],
      ["shorter than the announced parts", () => streamOf(noise), noise.byteLength + 1, badRequest],
      ["longer than the announced parts", () => streamOf(noise), noise.byteLength - 1, badRequest],
      ["broken immediately", () => breaksAfter(), 10, broken],
      ["broken in the middle", () => breaksAfter(bytes("abc")), 10, broken],
      ["broken at its end", () => breaksAfter(bytes("abc")), 3, broken],
      ["broken at the end of its parts", () => breaksAfter(noise), noise.byteLength, broken],
      ["broken in a later part", () => breaksAfter(noise), noise.byteLength + 10, broken],
      ["broken, of unknown length", () => breaksAfter(bytes("abc")), undefined, broken],
      ["broken in a later part, of unknown length", () => breaksAfter(noise), undefined, broken],
    ])("%s leaves what was there, and the store keeps working", async (_, body, size, expected) => {
      await blob.put(key, bytes("before"));
      await expect(blob.put(key, body(), size === undefined ? {} : { size })).rejects.toMatchObject(expected);
      expect((await stored()).toString()).toBe("before");
      expect(await all(blob.list(`o/${org}/`))).toHaveLength(1);
    });
  });

  if (bodiesAlone) return;

  test("is ready", async () => {
    expect(await blob.ready()).toBe(true);
  });

  describe("head and remove", () => {
    test("head returns length and time", async () => {
      await blob.put(key, bytes("four"));
      const entry = await blob.head(key);
      expect(entry).toMatchObject({ key, sizeBytes: 4 });
      // Object stores keep whole seconds.
      expect(Math.abs((entry?.modifiedAt.getTime() ?? 0) - Date.now())).toBeLessThan(3_600_000);
    });

    test("a missing object has no head and no bytes, and is removed without an error", async () => {
      expect(await blob.head(key)).toBeUndefined();
      expect(await blob.get(key)).toBeUndefined();
      expect(await blob.get(key, { start: 5, end: 9 })).toBeUndefined();
      expect(await blob.get(key, { start: 5, end: 5 })).toBeUndefined();
      await expect(blob.remove(key)).resolves.toBeUndefined();
    });

    test("a removed object is gone, and may be stored again", async () => {
      await blob.put(key, bytes("x"));
      await blob.remove(key);
      expect(await blob.head(key)).toBeUndefined();
      await blob.put(key, bytes("again"));
      expect((await stored()).toString()).toBe("again");
    });
  });

  describe("list", () => {
    test("shows every object under the prefix, once, in the order of the keys", async () => {
      const keys = Array.from({ length: 25 }, () => `o/${org}/${randomUUID()}`).toSorted();
      await Promise.all(keys.map((each, i) => blob.put(each, new Uint8Array(i))));
      await blob.put(`o/${randomUUID()}/${randomUUID()}`, bytes("of another organization"));
      const entries = await all(blob.list(`o/${org}/`));
      expect(entries.map((entry) => entry.key)).toEqual(keys);
      expect(entries.map((entry) => entry.sizeBytes).toSorted((a, b) => a - b)).toEqual([...keys.keys()]);
      expect(await all(blob.list(`o/${org.slice(0, 10)}`))).toHaveLength(25);
      expect((await all(blob.list(keys[3] ?? ""))).map((entry) => entry.key)).toEqual([keys[3]]);
    });

    test("shows nothing where nothing is, and everything for an empty prefix", async () => {
      expect(await all(blob.list(`o/${org}/`))).toEqual([]);
      await blob.put(key, bytes("x"));
      expect((await all(blob.list(""))).map((entry) => entry.key)).toContain(key);
    });

    test("may break off", async () => {
      await blob.put(key, bytes("x"));
      for await (const entry of blob.list(`o/${org}`)) {
        expect(entry.key).toBe(key);
        break;
      }
    });
  });

  describe("keys of another shape are refused", () => {
    const [a, b] = [randomUUID(), randomUUID()];
    test.each([
      ["an empty one", ""],
      ["one word", "o"],
      ["another root", `p/${a}/${b}`],
      ["a step up", `o/${a}/../${b}`],
      ["an encoded step up", `o/${a}/%2e%2e`],
      ["an absolute path", `/o/${a}/${b}`],
      ["a deeper path", `o/${a}/${b}/c`],
      ["a slash at the end", `o/${a}/${b}/`],
      ["upper case", `o/${a}/${b.toUpperCase()}`],
      ["a line break at the end", `o/${a}/${b}\n`],
      ["a NUL", `o/${a}/${b}\0`],
      ["a backslash", `o\\${a}\\${b}`],
      ["a query", `o/${a}/${b}?acl`],
      ["no UUID", `o/${a}/readme`],
    ])("%s", async (_, odd) => {
      await expect(blob.put(odd, bytes("x"))).rejects.toThrow(TypeError);
      await expect(blob.get(odd)).rejects.toThrow(TypeError);
      await expect(blob.head(odd)).rejects.toThrow(TypeError);
      await expect(blob.remove(odd)).rejects.toThrow(TypeError);
    });

    test.each(["..", "/", "o//", "o/../", ".unfinished", "O/", "o/x/", "o/*", `${"o/".repeat(50)}`])(
      "the prefix %j",
      (odd) => {
        expect(() => blob.list(odd)).toThrow(TypeError);
      },
    );

    test.each([
      [-1, 5],
      [5, 4],
      [0.5, 2],
      [0, Infinity],
      [Number.NaN, 1],
    ])("the range %d to %d", async (start, end) => {
      await expect(blob.get(key, { start, end })).rejects.toThrow(TypeError);
    });
  });

  describe("objects in parts", () => {
    partsContract(open);
  });
}
