import { expect, test } from "@jest/globals";
import { chooseRange } from "./range.ts";

test.each<[string | undefined, ReturnType<typeof chooseRange>]>([
  [undefined, "whole"],
  ["  ", "whole"],
  ["bytes=0-3", { start: 0, end: 4 }],
  ["BYTES=0-3", { start: 0, end: 4 }],
  ["bytes=9-9", { start: 9, end: 10 }],
  ["bytes=9-", { start: 9, end: 10 }],
  ["bytes=5-99999999999999999999999", { start: 5, end: 10 }],
  ["bytes=-3", { start: 7, end: 10 }],
  ["bytes=-99999999999999999999999", { start: 0, end: 10 }],
  ["bytes= 0-1 ,", { start: 0, end: 2 }],
  ["bytes=0-1,3-4", "whole"],
  ["bytes=0-1,50-60", "whole"],
  ["items=0-1", "whole"],
  ["bytes=10-", "unsatisfiable"],
  ["bytes=10-12", "unsatisfiable"],
  ["bytes=50-60,70-", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=", "unsatisfiable"],
  ["bytes=,", "unsatisfiable"],
  ["bytes=5-4", "unsatisfiable"],
  ["bytes=a-b", "unsatisfiable"],
  ["bytes=0-1,x", "unsatisfiable"],
  ["bytes=--1", "unsatisfiable"],
  ["bytes=0 - 1", "unsatisfiable"],
  ["bytes=0x0-1", "unsatisfiable"],
  ["bytes", "unsatisfiable"],
  ["bytes 0-1", "unsatisfiable"],
  ["b,s=0-1", "unsatisfiable"],
])("of ten bytes, %j", (header, chosen) => {
  expect(chooseRange(header, 10)).toEqual(chosen);
});

test("an empty body has no range", () => {
  expect([undefined, "bytes=0-", "bytes=-1", "bytes=0-0"].map((header) => chooseRange(header, 0))).toEqual([
    "whole",
    "unsatisfiable",
    "unsatisfiable",
    "unsatisfiable",
  ]);
});
