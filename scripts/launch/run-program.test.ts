import { expect, test } from "@jest/globals";
import { signalFilter } from "./run-program.mjs";

test.each([
  [
    "without a terminal every signal is passed on",
    false,
    [
      ["SIGINT", 0],
      ["SIGINT", 10],
    ],
    [true, true],
  ],
  [
    "on a terminal Ctrl-C has reached the program already",
    true,
    [
      ["SIGINT", 0],
      ["SIGINT", 900],
    ],
    [false, false],
  ],
  [
    "on a terminal a later SIGINT is passed on",
    true,
    [
      ["SIGINT", 0],
      ["SIGINT", 1500],
    ],
    [false, true],
  ],
  [
    "on a terminal other signals are passed on",
    true,
    [
      ["SIGTERM", 0],
      ["SIGHUP", 1],
    ],
    [true, true],
  ],
] as const)("%s", (_name, onTerminal, signals, expected) => {
  const passes = signalFilter({ onTerminal });
  expect(signals.map(([signal, atMs]) => passes(signal, atMs))).toEqual(expected);
});
