import { expect, test } from "@jest/globals";
import { createWarnings } from "../warnings.ts";
import { readRecord } from "./records.ts";

/** Writes a varint of 64 bits. */
function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(left)]);
}

/** Writes a field of a length. */
function field(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([varint(BigInt(number * 8 + 2)), varint(BigInt(bytes.length)), bytes]);
}

/** Returns the config of a record of a config with one item whose value is these bytes. */
function configOf(value: Buffer) {
  const warnings = createWarnings();
  const record = readRecord(field(5, field(1, Buffer.concat([field(1, "key"), value]))), warnings);
  return { record: JSON.stringify(record), warnings: warnings.take() };
}

const sint = (value: bigint): Buffer => Buffer.concat([Buffer.from([5 * 8]), varint((value << 1n) ^ (value >> 63n))]);

test.each([
  ["null as JSON", field(16, "null"), "null"],
  ["null of its own type", field(3, ""), "null"],
  ["an integer as JSON", field(16, "9007199254740993"), "9007199254740993"],
  ["an integer in a list", field(16, "[1, 9007199254740993]"), "[1,9007199254740993]"],
  ["an integer of its own type", sint(2n ** 53n + 1n), "9007199254740993"],
  ["the largest integer", sint(2n ** 63n - 1n), "9223372036854775807"],
  ["the lowest integer", sint(-(2n ** 63n)), "-9223372036854775808"],
  ["a small integer", sint(-3n), "-3"],
  ["no value", Buffer.alloc(0), undefined],
])("%s of a config arrives as it was written", (_what, value, text) => {
  const { record, warnings } = configOf(value);
  const sent = text === undefined ? "" : `,"value":${text}`;
  expect(record).toBe(`{"type":"config","items":[{"path":["key"]${sent}}]}`);
  expect(warnings.map(({ code }) => code)).toEqual(text === undefined ? ["malformed_value"] : []);
});
