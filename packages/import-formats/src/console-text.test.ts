import { expect, test } from "@jest/globals";
import { createConsoleText } from "./console-text.ts";
import type { ConsoleLine } from "./items.ts";
import { createWarnings } from "./warnings.ts";

/** Writes fragments one second after another and returns the lines. */
function linesOf(...fragments: string[]): readonly ConsoleLine[] {
  const text = createConsoleText("run", "stdout", createWarnings());
  for (const [second, fragment] of fragments.entries()) text.write(fragment, second * 1000);
  return text.rest().flatMap(({ lines }) => lines);
}

test.each([
  ["fragments are joined", ["a", "b", "c\nd", "\n"], ["abc", "d"]],
  ["what follows a carriage return writes over the line", ["10%\r 50%", "\r100%\n"], ["100%"]],
  ["the rest of a longer line stays", ["abcdef\rxy\n"], ["xycdef"]],
  ["a carriage return before a line break changes nothing", ["one\r\ntwo\r\n"], ["one", "two"]],
  ["a sequence erases the rest of the line", ["abcdef\rxy\u001B[K\n"], ["xy"]],
  ["a sequence erases the whole line", ["abc\r\u001B[2Kx\n"], ["x"]],
  ["other sequences stay", ["\u001B[31mred\u001B[0m\n"], ["\u001B[31mred\u001B[0m"]],
  ["empty lines stay", ["a\n\nb\n"], ["a", "", "b"]],
  ["a line that is not ended is one", ["a\nb"], ["a", "b"]],
  ["empty fragments are nothing", ["", ""], []],
])("%s", (_name, fragments, lines) => {
  expect(linesOf(...fragments).map(({ message }) => message)).toEqual(lines);
});

test("a line has the time of its first fragment", () => {
  expect(linesOf("a", "b\nc", "d\n")).toEqual([
    { time: 0, message: "ab" },
    { time: 1000, message: "cd" },
  ]);
});

test("a line that is too long is cut, and counted", () => {
  const warnings = createWarnings("run");
  const text = createConsoleText("run", "stderr", warnings);
  text.write("x".repeat(70_000), Number.NaN);
  expect(text.rest()[0]!.lines).toEqual([{ message: "x".repeat(65_536) }]);
  expect(warnings.take()).toEqual([
    { kind: "warning", code: "too_large", run: "run", count: 1, detail: "a line of stderr" },
  ]);
});
