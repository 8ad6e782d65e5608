import { expect, test } from "@jest/globals";
import { axisLabel, axisName } from "./axis-names.ts";

test("axes have names for people and for files", () => {
  const axes = ["step", "relative", "time", "metric:epoch"] as const;
  expect(axes.map((x) => axisName({ x }))).toEqual(["step", "seconds", "unix_ms", "epoch"]);
  expect(axes.map((x) => axisLabel({ x }, 330))).toEqual(["Step", "Relative time", "Wall time (UTC+5:30)", "epoch"]);
  expect([0, -480, -210].map((offset) => axisLabel({ x: "time" }, offset))).toEqual([
    "Wall time (UTC)",
    "Wall time (UTC−8)",
    "Wall time (UTC−3:30)",
  ]);
});
