import { create, fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { EchoMessageSchema } from "@tidemark/proto/testing/v1/echo";
import { turnsDuring } from "@tidemark/testkit";
import fc from "fast-check";
import { createMessage, decodeMessage, encodeMessage } from "./messages.ts";

type Echo = { text: string; numbers: number[]; parts: Echo[] };
const leaf = fc.record({ text: fc.string(), numbers: fc.array(fc.double()), parts: fc.constant<Echo[]>([]) });
const echo: fc.Arbitrary<Echo> = fc.record({
  text: fc.string({ maxLength: 40_000 }),
  numbers: fc.array(fc.double()),
  parts: fc.array(fc.record({ text: fc.string(), numbers: fc.array(fc.double()), parts: fc.array(leaf) }), {
    maxLength: 60,
  }),
});

const jsonOf = (message: object) => toJson(EchoMessageSchema, create(EchoMessageSchema, message));

/** A page of runs, or a message of its size. */
const large: Echo = {
  text: "large",
  numbers: [1],
  parts: Array.from({ length: 500 }, (_, i) => ({
    text: `part ${i}`,
    numbers: [i],
    parts: Array.from({ length: 100 }, (__, j) => ({ text: "x".repeat(20), numbers: [j, -j], parts: [] })),
  })),
};

test("a message that is written in parts is read as a whole", async () => {
  await fc.assert(
    fc.asyncProperty(echo, async (message) => {
      const bytes = await encodeMessage(EchoMessageSchema, message);
      expect(jsonOf(fromBinary(EchoMessageSchema, bytes))).toEqual(jsonOf(message));
      expect(bytes).toHaveLength(toBinary(EchoMessageSchema, create(EchoMessageSchema, message)).length);
    }),
  );
});

test("a message that is written as a whole is read in parts", async () => {
  await fc.assert(
    fc.asyncProperty(echo, async (message) => {
      const bytes = toBinary(EchoMessageSchema, create(EchoMessageSchema, message));
      expect(jsonOf(await decodeMessage(EchoMessageSchema, bytes))).toEqual(jsonOf(message));
    }),
  );
});

test("a message that is created in parts is the message", async () => {
  await fc.assert(
    fc.asyncProperty(echo, async (message) => {
      const created = await createMessage(EchoMessageSchema, message);
      expect(created).toEqual(create(EchoMessageSchema, message));
      expect(await createMessage(EchoMessageSchema, created)).toBe(created);
    }),
  );
});

test("others get their turns while a large message is created, written or read", async () => {
  const { turns: created } = await turnsDuring(() => createMessage(EchoMessageSchema, large));
  expect(created).toBeGreaterThan(1);
  const { result: bytes, turns: written } = await turnsDuring(() => encodeMessage(EchoMessageSchema, large));
  expect(bytes.length).toBeGreaterThan(2_000_000);
  const { turns: read } = await turnsDuring(() => decodeMessage(EchoMessageSchema, bytes));
  expect(Math.min(written, read)).toBeGreaterThan(5);
});

test("bytes that end early or are not a message are refused, at any size", async () => {
  const bytes = await encodeMessage(EchoMessageSchema, large);
  await expect(decodeMessage(EchoMessageSchema, bytes.subarray(0, -1))).rejects.toThrow("premature EOF");
  await expect(decodeMessage(EchoMessageSchema, bytes.subarray(0, 1000))).rejects.toThrow("Offset is outside");
  await expect(decodeMessage(EchoMessageSchema, new Uint8Array(100_000).fill(255))).rejects.toThrow("invalid varint");
});
