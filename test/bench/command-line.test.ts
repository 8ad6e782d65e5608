import { expect, test } from "@jest/globals";
import { parseBenchArguments } from "./command-line.ts";

test.each([
  ["nothing", [], { what: "all", modes: ["embedded", "split"], seconds: 6, check: false }],
  ["--check alone", ["--check"], { what: "metrics", check: true, modes: ["embedded"], seconds: 4, rounds: 3 }],
  ["metrics --check", ["metrics", "--check"], { what: "metrics", check: true }],
  ["skew --check", ["skew", "--check"], { what: "skew", check: true, modes: ["embedded"] }],
  ["wide for a minute", ["wide", "--minutes", "1"], { what: "wide", minutes: 1, modes: ["embedded"] }],
  ["wide in split mode", ["wide", "--mode", "split"], { modes: ["split"] }],
  ["growth to a million", ["growth", "--to", "1e6"], { what: "growth", to: 1e6 }],
])("%s", (_what, args, options) => {
  expect(parseBenchArguments(args)).toMatchObject(options);
});

test.each([
  ["a benchmark that is not there", ["speed"], "there is no benchmark speed"],
  ["--check of something else", ["logs", "--check"], "--check goes with metrics or skew alone"],
  ["a mode that is not there", ["--mode", "cloud"], "--mode is"],
  ["no minutes", ["wide", "--minutes", "0"], "--minutes is 0.1 to 600"],
  ["rounds that are not a number", ["metrics", "--rounds", "many"], "--rounds is 1 to 100"],
])("%s is refused", (_what, args, text) => {
  expect(() => parseBenchArguments(args)).toThrow(text);
});
