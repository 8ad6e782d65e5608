import { expect, test } from "@jest/globals";
import { rampColor } from "../scene/scale.ts";
import { contrast, luminance, readableOn } from "./contrast.ts";

test("contrasts are those of WCAG", () => {
  expect(luminance("#ffffff")).toBeCloseTo(1, 12);
  expect(luminance("#ff0000")).toBeCloseTo(0.2126, 12);
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 12);
  // The gray that pages take for the lightest readable one on white.
  expect(contrast("#ffffff", "#767676")).toBeCloseTo(4.54, 2);
  expect(contrast("#123456", "#123456")).toBe(1);
});

test("text is readable on every color of the scale", () => {
  for (let share = 0; share <= 1; share += 1 / 256) {
    const color = rampColor(share);
    expect(contrast(color, readableOn(color))).toBeGreaterThanOrEqual(4.5);
  }
  expect([readableOn(rampColor(0)), readableOn(rampColor(1))]).toEqual(["#ffffff", "#000000"]);
});
