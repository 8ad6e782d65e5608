import { expect, test } from "@jest/globals";
import { judgeRatio } from "./check-ratios.ts";

test.each([
  ["above", 3.2, true, "ok    rate: 3.20, must be at least 3"],
  ["equal", 3, true, "ok    rate: 3.00, must be at least 3"],
  ["below", 2.99, false, "FAIL  rate: 2.99, must be at least 3"],
  ["no number", Number.NaN, false, "FAIL  rate: NaN, must be at least 3"],
  ["not there", undefined, true, "NOT CHECKED  rate: the other side could not be had"],
])("a ratio that is %s", (_what, ratio, ok, line) => {
  expect(judgeRatio({ what: "rate", ratio, atLeast: 3 })).toEqual({ ok, line });
});

test("a ratio that has a highest value is judged by it", () => {
  const rule = { what: "time", atMost: 1.5 };
  expect(judgeRatio({ ...rule, ratio: 1.5 })).toEqual({ ok: true, line: "ok    time: 1.50, must be at most 1.5" });
  expect(judgeRatio({ ...rule, ratio: 1.51 })).toEqual({ ok: false, line: "FAIL  time: 1.51, must be at most 1.5" });
});
