import { expect, test } from "@jest/globals";
import { PAGE_BYTES_MAX, runsThatFit } from "./page-weight.sql.ts";

test.each([
  ["nothing", [], 0],
  ["light runs", [10, 20, 30], 3],
  ["runs that fill the page exactly", [PAGE_BYTES_MAX - 1, 1], 2],
  ["one byte too many", [PAGE_BYTES_MAX - 1, 1, 1], 2],
  ["a first run that is too heavy by itself", [PAGE_BYTES_MAX + 1, 1], 1],
])("%s: %j bytes, of which %d runs fit", (_what, bytes, fitting) => {
  expect(runsThatFit(bytes)).toBe(fitting);
});
