import { expect, test } from "@jest/globals";
import { parseBenchArguments } from "./command-line.ts";

const parse = (...args: string[]) => parseBenchArguments(args, ["lists", "writes", "web"], ["lists", "writes"]);

test.each([
  ["nothing", [], { names: [], check: false, modes: ["embedded"], seconds: 6, scale: 1 }],
  ["--check alone", ["--check"], { names: ["lists", "writes"], check: true, seconds: 2, scale: 0.1 }],
  ["--check of one", ["web", "--check", "--scale", "1"], { names: ["web"], check: true, scale: 1 }],
  ["both modes", ["lists", "--mode", "both"], { names: ["lists"], modes: ["embedded", "split"] }],
])("%s", (_what, args, options) => {
  expect(parse(...args)).toMatchObject(options);
});

test.each([
  ["a bench that does not exist", ["speed"], "no bench has the name speed"],
  ["a mode that does not exist", ["--mode", "cloud"], "--mode is"],
  ["rounds that are not a number", ["lists", "--rounds", "many"], "--rounds is 1 to 100"],
])("%s is refused", (_what, args, text) => {
  expect(() => parse(...args)).toThrow(text);
});
