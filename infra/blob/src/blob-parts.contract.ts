import { randomBytes, randomUUID } from "node:crypto";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Blob, PartTag } from "./blob.ts";
import { bytes, collect, countedSource, LARGE_BYTES, MiB, sha256, streamOf } from "./bodies.fixture.ts";

const badRequest = { name: "AppError", reason: "bad_request" };
const notFound = { name: "AppError", reason: "not_found" };

/** The contract of every object store driver for objects that arrive in parts. `open` opens the same store. */
export function partsContract(open: () => Promise<Blob>): void {
  const partBytes = 5 * MiB;
  const first = randomBytes(partBytes);
  const second = randomBytes(partBytes);
  const rest = randomBytes(1_234);
  let blob: Blob;
  let key: string;
  let upload: string;

  beforeAll(async () => {
    blob = await open();
  });
  beforeEach(async () => {
    key = `o/${randomUUID()}/${randomUUID()}`;
    upload = await blob.beginParts(key, { partBytes });
  });
  afterEach(async () => {
    await blob.remove(key);
  });

  async function put(partNumber: number, ...pieces: readonly Uint8Array[]): Promise<PartTag> {
    const size = Buffer.concat(pieces).byteLength;
    return { partNumber, ...(await blob.putPart(key, upload, partNumber, streamOf(...pieces), { size })) };
  }
  const stored = async (): Promise<Buffer> => collect((await blob.get(key))?.body);
  const numbers = async (): Promise<number[] | undefined> =>
    (await blob.listParts(key, upload))?.map((part) => part.partNumber);

  describe("an object in parts", () => {
    test("arrives in any order, is listed by part, and becomes visible when it is finished", async () => {
      expect(await blob.listParts(key, upload)).toEqual([]);
      const tags = [await put(3, rest), await put(1, first.subarray(0, 9), first.subarray(9)), await put(2, second)];
      const sorted = tags.toSorted((a, b) => a.partNumber - b.partNumber);
      const sizes = [partBytes, partBytes, rest.byteLength];
      expect(await blob.listParts(key, upload)).toEqual(sorted.map((tag, i) => ({ ...tag, sizeBytes: sizes[i] })));
      expect(await blob.head(key)).toBeUndefined();
      expect(await blob.get(key)).toBeUndefined();
      const sizeBytes = 2 * partBytes + rest.byteLength;
      expect(await blob.finishParts(key, upload, sorted)).toEqual({ sizeBytes });
      expect((await stored()).equals(Buffer.concat([first, second, rest]))).toBe(true);
      const entry = await blob.head(key);
      expect(entry).toMatchObject({ key, sizeBytes });
      expect(entry).not.toHaveProperty("sha256");
      expect(
        (await collect((await blob.get(key, { start: partBytes - 2, end: partBytes + 2 }))?.body)).toString("hex"),
      ).toBe(Buffer.concat([first.subarray(-2), second.subarray(0, 2)]).toString("hex"));
    });

    test("may be one short part", async () => {
      const result = await blob.finishParts(key, upload, [await put(1, bytes("short"))]);
      expect(result.sizeBytes).toBe(5);
      expect([undefined, sha256(bytes("short"))]).toContain(result.sha256);
      expect((await stored()).toString()).toBe("short");
    });

    test("replaces what was there", async () => {
      await blob.put(key, randomBytes(100));
      await blob.finishParts(key, upload, [await put(1, bytes("new"))]);
      expect((await stored()).toString()).toBe("new");
    });

    test("takes 20 parts simultaneously", async () => {
      const bodies = Array.from({ length: 20 }, (_, i) => Buffer.alloc(i === 19 ? 7 : partBytes, i));
      const tags = await Promise.all(bodies.map(async (body, i) => put(i + 1, body)));
      await blob.finishParts(key, upload, tags);
      expect((await stored()).equals(Buffer.concat(bodies))).toBe(true);
    });

    test("continues after the store was opened again", async () => {
      const tags = [await put(1, first)];
      blob = await open();
      expect(await numbers()).toEqual([1]);
      tags.push(await put(2, rest));
      blob = await open();
      await blob.finishParts(key, upload, tags);
      expect((await stored()).equals(Buffer.concat([first, rest]))).toBe(true);
    });

    test("a part that is sent again replaces the one before", async () => {
      const old = await put(1, first);
      const [one, two] = [await put(1, second), await put(2, rest)];
      await expect(blob.finishParts(key, upload, [old, two])).rejects.toMatchObject(badRequest);
      await blob.finishParts(key, upload, [one, two]);
      expect((await stored()).equals(Buffer.concat([second, rest]))).toBe(true);
    });

    test("a part that gets shorter leaves nothing of the longer one", async () => {
      await put(1, first);
      await put(2, second);
      await blob.finishParts(key, upload, [await put(1, bytes("short"))]);
      expect((await stored()).toString()).toBe("short");
    });

    test("eight simultaneous bodies of one part leave one of them, whole", async () => {
      const bodies = Array.from({ length: 8 }, (_, i) => Buffer.alloc(partBytes - i, i));
      await Promise.all(bodies.map(async (body) => put(1, body)));
      const [part] = (await blob.listParts(key, upload)) ?? [];
      await blob.finishParts(key, upload, part === undefined ? [] : [part]);
      const result = await stored();
      expect(bodies.filter((body) => body.equals(result))).toHaveLength(1);
    });

    test("two uploads of one key know nothing of each other", async () => {
      const other = await blob.beginParts(key, { partBytes });
      expect(other).not.toBe(upload);
      const tag = await put(1, first);
      expect(await blob.listParts(key, other)).toEqual([]);
      await blob.finishParts(key, upload, [tag]);
      expect(await blob.listParts(key, upload)).toBeUndefined();
      expect(await blob.listParts(key, other)).toEqual([]);
    });

    test("a large part passes through without being held", async () => {
      upload = await blob.beginParts(key, { partBytes: 2 * LARGE_BYTES });
      const { source, mostHeld } = countedSource(LARGE_BYTES);
      const { etag } = await blob.putPart(key, upload, 1, source(), { size: LARGE_BYTES });
      expect(mostHeld()).toBeLessThan(LARGE_BYTES / 2);
      expect(await blob.finishParts(key, upload, [{ partNumber: 1, etag }])).toMatchObject({ sizeBytes: LARGE_BYTES });
    });
  });

  describe("parts that cannot be finished leave the upload as it was", () => {
    const odd: readonly [string, (one: PartTag, two: PartTag) => PartTag[]][] = [
      ["none", () => []],
      ["the first is missing", (_, two) => [two]],
      ["the last never came", (one, two) => [one, two, { ...two, partNumber: 3 }]],
      ["one in between never came", (one, two) => [one, { ...two, partNumber: 3 }]],
      ["in another order", (one, two) => [two, one]],
      ["twice the same", (one) => [one, one]],
      ["an ETag of another part", (one, two) => [{ ...one, etag: two.etag }, two]],
      ["no ETag", (one, two) => [one, { ...two, etag: "" }]],
      ["an ETag with markup", (one, two) => [one, { ...two, etag: `${two.etag}</ETag><x>` }]],
    ];
    test.each(odd)("%s", async (_, choose) => {
      const [one, two] = [await put(1, first), await put(2, rest)];
      await expect(blob.finishParts(key, upload, choose(one, two))).rejects.toMatchObject(badRequest);
      expect(await blob.head(key)).toBeUndefined();
      await blob.finishParts(key, upload, [one, two]);
      expect((await stored()).equals(Buffer.concat([first, rest]))).toBe(true);
    });

    test("a part before the last that is too short", async () => {
      const [one, two] = [await put(1, first.subarray(1)), await put(2, second)];
      await expect(blob.finishParts(key, upload, [one, two])).rejects.toMatchObject(badRequest);
      expect(await numbers()).toEqual([1, 2]);
      await blob.finishParts(key, upload, [await put(1, first), two]);
      expect((await stored()).equals(Buffer.concat([first, second]))).toBe(true);
    });
  });

  describe("a part whose body fails is not there", () => {
    const broken = new Error("the client went away");
    async function* breaksAfter(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
      yield* pieces;
      throw broken;
    }
    test.each([
      ["shorter than announced", () => streamOf(bytes("abc")), 4, badRequest],
      ["much shorter than announced", () => streamOf(first.subarray(1)), partBytes, badRequest],
      ["longer than announced", () => streamOf(bytes("abc"), bytes("de")), 4, badRequest],
      ["longer than announced by a piece", () => streamOf(bytes("abcd"), bytes("e")), 4, badRequest],
      ["empty", () => streamOf(), 0, badRequest],
      ["longer than the parts", () => streamOf(first, rest), partBytes + rest.byteLength, badRequest],
      ["broken immediately", () => breaksAfter(), 10, broken],
      ["broken in the middle", () => breaksAfter(first.subarray(0, 3 * MiB)), partBytes, broken],
      ["broken at its end", () => breaksAfter(bytes("abc")), 3, broken],
    ])("%s", async (_, body, size, expected) => {
      const one = await put(1, first);
      await expect(blob.putPart(key, upload, 2, body(), { size })).rejects.toMatchObject(expected);
      expect(await numbers()).toEqual([1]);
      await blob.finishParts(key, upload, [one, await put(2, rest)]);
      expect((await stored()).equals(Buffer.concat([first, rest]))).toBe(true);
    });

    test("and one that was there before is whole or not there", async () => {
      const one = await put(1, first);
      await expect(
        blob.putPart(key, upload, 1, breaksAfter(second.subarray(0, 3 * MiB)), { size: partBytes }),
      ).rejects.toBe(broken);
      const there = (await numbers())?.includes(1) ?? false;
      const [finished] = await Promise.allSettled([blob.finishParts(key, upload, [one])]);
      expect(finished).toMatchObject(there ? { status: "fulfilled" } : { status: "rejected", reason: badRequest });
      expect((await stored()).equals(there ? first : Buffer.alloc(0))).toBe(true);
    });
  });

  describe("an upload that has ended", () => {
    async function expectEnded(uploadKey: string, uploadId: string): Promise<void> {
      expect(await blob.listParts(uploadKey, uploadId)).toBeUndefined();
      const part = blob.putPart(uploadKey, uploadId, 1, streamOf(first), { size: partBytes });
      await expect(part).rejects.toMatchObject(notFound);
      const finish = blob.finishParts(uploadKey, uploadId, [{ partNumber: 1, etag: "x" }]);
      await expect(finish).rejects.toMatchObject(notFound);
    }

    test("by being finished: it cannot be finished again, and takes no parts", async () => {
      const tags = [await put(1, first), await put(2, rest)];
      await blob.finishParts(key, upload, tags);
      await expect(blob.finishParts(key, upload, tags)).rejects.toMatchObject(notFound);
      await expectEnded(key, upload);
      expect((await stored()).byteLength).toBe(partBytes + rest.byteLength);
    });

    test("by being removed, all uploads of the key, with the object; no other", async () => {
      const [other, foreign] = [await blob.beginParts(key, { partBytes }), `o/${randomUUID()}/${randomUUID()}`];
      const kept = await blob.beginParts(foreign, { partBytes });
      await put(1, first);
      await blob.put(key, bytes("x"));
      await blob.remove(key);
      expect(await blob.head(key)).toBeUndefined();
      await expectEnded(key, upload);
      await expectEnded(key, other);
      expect(await blob.listParts(foreign, kept)).toEqual([]);
      await blob.remove(foreign);
    });

    test("by ending the uploads of the key, and the object stays", async () => {
      const other = await blob.beginParts(key, { partBytes });
      await blob.finishParts(key, upload, [await put(1, bytes("x"))]);
      await blob.endParts(key);
      await expectEnded(key, other);
      expect((await stored()).toString()).toBe("x");
      await blob.endParts(key);
    });

    test("while a part arrives: nothing of it is left", async () => {
      async function* body(): AsyncGenerator<Uint8Array> {
        yield first.subarray(0, 2 * MiB);
        await blob.remove(key);
        yield first.subarray(2 * MiB);
      }
      const [result] = await Promise.allSettled([blob.putPart(key, upload, 1, body(), { size: partBytes })]);
      expect(result.status === "fulfilled" || result.reason).toMatchObject(notFound);
      await blob.remove(key);
      await expectEnded(key, upload);
      expect(await blob.head(key)).toBeUndefined();
    });

    test("by finishing, while another part arrives: the object is as it was named", async () => {
      const one = await put(1, first);
      async function* body(): AsyncGenerator<Uint8Array> {
        yield second.subarray(0, 2 * MiB);
        await blob.finishParts(key, upload, [one]);
        yield second.subarray(2 * MiB);
      }
      const [result] = await Promise.allSettled([blob.putPart(key, upload, 2, body(), { size: partBytes })]);
      expect(result.status === "fulfilled" || result.reason).toMatchObject(notFound);
      expect((await stored()).equals(first)).toBe(true);
    });

    test("by finishing, while 12 other parts arrive", async () => {
      const one = await put(1, first);
      const others = Array.from({ length: 12 }, async (_, i) => put(i + 2, second));
      const finished = blob.finishParts(key, upload, [one]);
      const results = await Promise.allSettled(others);
      expect(await finished).toMatchObject({ sizeBytes: partBytes });
      for (const result of results)
        expect(result).toMatchObject(result.status === "fulfilled" ? {} : { reason: notFound });
      expect((await stored()).equals(first)).toBe(true);
      await expectEnded(key, upload);
    });

    test("of another key, or never begun", async () => {
      await expectEnded(`o/${randomUUID()}/${randomUUID()}`, upload);
      await expectEnded(key, upload.replace(/^\d+/, String(6 * MiB)).replace(/.$/, "_"));
    });

    test.each([
      ["an empty id", ""],
      ["a path", "../../../etc/passwd"],
      ["a path after a length", `${5 * MiB}-../../x`],
      ["a step up after a length", `${5 * MiB}-..`],
      ["a NUL", `${5 * MiB}-a\0b`],
      ["a line break", `${5 * MiB}-abc\n`],
      ["no length", randomUUID()],
      ["a length of nothing", `0-${randomUUID()}`],
      ["a query", `${5 * MiB}-a&uploads=b`],
      ["a long one", `${5 * MiB}-${"a".repeat(5_000)}`],
    ])("is what %s stands for", async (_, odd) => {
      await expectEnded(key, odd);
    });
  });

  describe("arguments that no caller means are refused", () => {
    const odd = "o/../etc";
    test("keys of another shape", async () => {
      await expect(blob.beginParts(odd, { partBytes })).rejects.toThrow(TypeError);
      await expect(blob.putPart(odd, upload, 1, streamOf(rest), { size: 1 })).rejects.toThrow(TypeError);
      await expect(blob.listParts(odd, upload)).rejects.toThrow(TypeError);
      await expect(blob.finishParts(odd, upload, [])).rejects.toThrow(TypeError);
    });

    test.each([0, -1, 1.5, 10_001, Number.NaN, Infinity])("the part number %d", async (partNumber) => {
      const part = blob.putPart(key, upload, partNumber, streamOf(rest), { size: rest.byteLength });
      await expect(part).rejects.toThrow(TypeError);
      await expect(blob.finishParts(key, upload, [{ partNumber, etag: "x" }])).rejects.toThrow(TypeError);
      expect(await numbers()).toEqual([]);
    });

    test("the part number 10,000 is taken", async () => {
      await put(10_000, rest);
      expect(await numbers()).toEqual([10_000]);
    });

    test.each([-1, 1.5, Number.NaN, Infinity])("the length %d", async (size) => {
      await expect(blob.putPart(key, upload, 1, streamOf(rest), { size })).rejects.toThrow(TypeError);
    });

    test.each([0, 5 * MiB - 1, 5 * 1024 * MiB + 1, 6.5 * MiB + 0.5, Number.NaN])(
      "parts of %d bytes",
      async (length) => {
        await expect(blob.beginParts(key, { partBytes: length })).rejects.toThrow(TypeError);
      },
    );
  });

  test("uploads that were not finished are not listed", async () => {
    await put(1, first);
    for await (const entry of blob.list(key)) throw new Error(`${entry.key} is listed`);
    await blob.remove(key);
    expect(await blob.listParts(key, upload)).toBeUndefined();
  });
}
