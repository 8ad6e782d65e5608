import { expect, test } from "@jest/globals";
import { countFitting, refuseHeavyPage } from "./page-weight.rules.ts";

const MIB = 2 ** 20;

test.each([
  ["nothing", [], 0],
  ["rows of 16 MiB together", [8 * MIB, 8 * MIB], 2],
  ["one byte more", [8 * MIB, 8 * MIB, 1], 2],
  ["a first row that is too large", [17 * MIB, 1], 1],
])("the number of rows that fit a page: %s", (_, bytes, fitting) => {
  expect(countFitting(bytes)).toBe(fitting);
});

test("a page that does not fit is refused with the number that does", () => {
  expect(() => refuseHeavyPage([9 * MIB, 6 * MIB, 2 * MIB], "objects")).toThrow(
    expect.objectContaining({ reason: "bad_request", field: "limit", message: expect.stringContaining("at most 2 ") }),
  );
  expect(() => refuseHeavyPage([17 * MIB], "objects")).not.toThrow();
});
