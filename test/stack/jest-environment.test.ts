import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { expect, test } from "@jest/globals";

const refusal = await new Promise<unknown>((resolve) => {
  connect({ host: "127.0.0.1", port: 1 }).once("error", resolve);
});
const missing = await readFile("/no/such/file").catch((error: unknown) => error);
class Mine extends Error {}

test("errors that Node itself throws are instances of the Error of a test", () => {
  expect(refusal instanceof Error).toBe(true);
  expect(missing instanceof Error).toBe(true);
});

test("a subclass accepts its own instances alone", () => {
  expect(new Mine() instanceof Mine).toBe(true);
  expect(new Mine() instanceof Error).toBe(true);
  expect(refusal instanceof Mine).toBe(false);
  expect(refusal instanceof TypeError).toBe(false);
});

test.each([[null], [undefined], ["Error"], [{ message: "x", stack: "y" }], [Object.create(null)]])(
  "%p is not an Error",
  (value) => {
    expect((value as unknown) instanceof Error).toBe(false);
  },
);
