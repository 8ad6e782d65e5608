import { describe, expect, test } from "@jest/globals";
import { turnsDuring } from "@tidemark/testkit";
import { finishInTurns } from "@tidemark/work";
import fc from "fast-check";
import { canonicalSteps, fingerprintInTurns, readDocumentInTurns, writeCanonicalInTurns } from "./document-turns.ts";
import {
  DOCUMENT_DEPTH_MAX,
  exactDecimal,
  fingerprintOf,
  parseExact,
  readDocument,
  writeCanonical,
} from "./exact-json.ts";

/** Members of about 100 kB, which are read in turns. */
const filling = Array.from({ length: 5000 }, (_, i) => `"key ${i}":[${i}.0,{"b":1e2}]`).join(",");

describe("a document in turns", () => {
  test("is read, written and compared as without turns", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.integer({ min: 1, max: 30 }), async (json, unitsMax) => {
        const text = `{${filling},"last":${json},"__proto__":1.50}`;
        const value = await readDocumentInTurns(Buffer.from(text), "config");
        const expected = readDocument(Buffer.from(text), "config");
        expect(writeCanonical(value)).toBe(writeCanonical(expected));
        const part = parseExact(json);
        expect(await finishInTurns(canonicalSteps(part, exactDecimal, unitsMax))).toBe(
          writeCanonical(part, exactDecimal),
        );
      }),
      { numRuns: 30 },
    );
    const value = parseExact(`{${filling}}`);
    expect(await writeCanonicalInTurns(value)).toBe(writeCanonical(value));
    expect(await fingerprintInTurns(value)).toEqual(new Uint8Array(fingerprintOf(value)));
  });

  test.each([
    ["no JSON", `{${filling},}`],
    ["a list", `[{${filling}}]`],
    ["a number that is too large", `{${filling},"a":1e999}`],
    [
      "a letter that is not UTF-8",
      Buffer.concat([Buffer.from(`{${filling},"a":"`), Buffer.of(0xff), Buffer.from('"}')]),
    ],
  ])("is refused as without turns: %s", async (_what, sent) => {
    const bytes = Buffer.from(sent as string);
    let message = "";
    try {
      readDocument(bytes, "config");
    } catch (error) {
      ({ message } = error as Error);
    }
    await expect(readDocumentInTurns(bytes, "config")).rejects.toMatchObject({ reason: "bad_request", message });
  });

  test.each([
    ["as deep as it may be", DOCUMENT_DEPTH_MAX, true],
    ["deeper", DOCUMENT_DEPTH_MAX + 1, false],
  ])("that is %s is judged as without turns", async (_what, depth, isRight) => {
    const deep = `{${filling},"a":${"[".repeat(depth - 1)}"${"x".repeat(100_000)}"${"]".repeat(depth - 1)}}`;
    const judged = (work: () => Promise<unknown>) =>
      work().then(
        () => "right",
        (error: Error) => error.message,
      );
    const expected = isRight ? "right" : `documents may be nested ${DOCUMENT_DEPTH_MAX} levels deep`;
    const value = readDocument(Buffer.from(deep), "config");
    expect(await judged(async () => writeCanonical(value))).toBe(expected);
    expect(await judged(() => writeCanonicalInTurns(value))).toBe(expected);
    const read = await judged(() => readDocumentInTurns(Buffer.from(deep), "config").then(writeCanonicalInTurns));
    expect(read).toBe(expected);
  });

  test("of a megabyte lets others work meanwhile, a small one does not wait", async () => {
    const large = Buffer.from(`{"a":[${Array(200_000).fill("1.50").join(",")}]}`);
    const read = await turnsDuring(() => readDocumentInTurns(large, "config"));
    const written = await turnsDuring(() => writeCanonicalInTurns(read.result));
    const compared = await turnsDuring(() => fingerprintInTurns(read.result));
    for (const { turns } of [read, written, compared]) expect(turns).toBeGreaterThan(2);
    const small = await turnsDuring(async () =>
      writeCanonicalInTurns(await readDocumentInTurns(Buffer.from("{}"), "c")),
    );
    expect(small).toEqual({ result: "{}", turns: 0 });
  });
});
