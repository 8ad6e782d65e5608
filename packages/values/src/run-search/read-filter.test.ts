import { describe, expect, test } from "@jest/globals";
import type { Column, Comparison, Operand } from "./column.ts";
import { tokenize } from "./tokenize.ts";

const config = (path: string): Column => ({ kind: "config", path });
const filter = (column: Column, comparison: Comparison, operand: Operand) => ({
  kind: "filter",
  column,
  comparison,
  operand,
});
const word = (value: string, column = 1) => ({ kind: "term", form: "word", field: "all", value, column });

describe("a filter", () => {
  test.each<[what: string, text: string, column: Column, comparison: Comparison, operand: Operand]>([
    ["of a config", "config.lr<0.1", config("lr"), "<", 0.1],
    ["that is less or equal", "config.lr<=1e-3", config("lr"), "<=", 0.001],
    ["that is greater", "config.lr>-5", config("lr"), ">", -5],
    ["that is greater or equal", "config.lr>=+.5", config("lr"), ">=", 0.5],
    ["that is equal", "config.lr=5.", config("lr"), "=", 5],
    ["that is different", "config.lr!=5", config("lr"), "!=", 5],
    ["with a number beyond all numbers", "config.lr<1e999", config("lr"), "<", Infinity],
    ["with the last integer below 2^53", "config.n=-9007199254740991", config("n"), "=", -9007199254740991],
    ["with an integer from 2^53 on", "config.n=9007199254740993", config("n"), "=", { digits: "9007199254740993" }],
    ["with a long number with an exponent", "config.n<=-1.5e30", config("n"), "<=", { digits: "-1.5e30" }],
    ["of a text", 'config.opt="Adam W"', config("opt"), "=", "Adam W"],
    ["of a text with escapes", String.raw`config.opt="a\"b\\c\d"`, config("opt"), "=", String.raw`a"b\c\d`],
    ["of the empty text", 'config.opt=""', config("opt"), "=", ""],
    ["of a text that looks like a number", 'config.opt<"5"', config("opt"), "<", "5"],
    ["of a nested config", "config.a.b.c=1", config("a.b.c"), "=", 1],
    ["of a name with a single exclamation mark", "config.a!b=1", config("a!b"), "=", 1],
    ["of a name with a quote", 'config.a"b=1', config('a"b'), "=", 1],
    ["of an attribute", 'attributes.git/commit="0a1b"', { kind: "attributes", path: "git/commit" }, "=", "0a1b"],
    ["of a metric", "metrics.val/loss<1", { kind: "metrics", key: "val/loss", figure: "latest" }, "<", 1],
    ["of the best of a metric", "metrics.a.best<1", { kind: "metrics", key: "a", figure: "best" }, "<", 1],
    ["of a metric whose key has a dot", "metrics.a.b<1", { kind: "metrics", key: "a.b", figure: "latest" }, "<", 1],
    ["of a metric called best", "metrics.best<1", { kind: "metrics", key: "best", figure: "latest" }, "<", 1],
    [
      "of a metric that ends like a figure",
      "metrics.best.best.latest<1",
      { kind: "metrics", key: "best.best", figure: "latest" },
      "<",
      1,
    ],
  ])("%s", (_what, text, column, comparison, operand) => {
    expect(tokenize(text)).toEqual([filter(column, comparison, operand)]);
  });

  test("ends before a parenthesis and white space, and is negated by a minus directly before it", () => {
    const wide = filter(config("w"), ">", 3);
    expect(tokenize('(-config.w>3 OR config.o="x")b')).toEqual([
      { kind: "open" },
      { kind: "not" },
      wide,
      { kind: "or" },
      filter(config("o"), "=", "x"),
      { kind: "close" },
      word("b", 30),
    ]);
    expect(tokenize('"a"config.w>3\u{3000}x')).toEqual([
      { kind: "term", form: "phrase", field: "all", value: "a", column: 1 },
      wide,
      word("x", 15),
    ]);
  });
});

describe("a word that is not a complete filter is text", () => {
  test.each([
    ["without an operator", "config.lr"],
    ["without an operand", "config.lr>"],
    ["without a name", "config.>1"],
    ["of another kind", "metadata.lr>1"],
    ["in upper case", "Config.lr>1"],
    ["with a word for a text", "config.opt=adam"],
    ["with something behind the number", "config.lr>1x"],
    ["with a sign alone", "config.lr>-"],
    ["with a point alone", "config.lr>."],
    ["with a hexadecimal number", "config.lr>0x10"],
    ["with another operator", "config.lr==1"],
    ["with an operator that is turned around", "config.lr=<1"],
    ["with a single exclamation mark", "config.lr!1"],
    ["with a quote that does not end", 'config.opt="adam'],
    ["with something behind the text", 'config.opt="adam"w'],
    ["with a longer name than any", `config.${"x".repeat(513)}>1`],
    ["not at its start", "xconfig.lr>1"],
    ["negated", "-config.lr"],
    ["negated twice", "--config.lr>1"],
  ])("%s", (_what, text) => {
    expect(tokenize(text)).toEqual([word(text)]);
  });

  test("up to white space", () => {
    expect(tokenize('config.opt="adam w"x config.a > 1')).toEqual([
      word('config.opt="adam'),
      word('w"x', 18),
      word("config.a", 22),
      word(">", 31),
      word("1", 33),
    ]);
  });

  test("also if no database could hold its text", () => {
    expect(tokenize('config.a="\0"')).toEqual([word('config.a="\0"')]);
    expect(tokenize("config.\u{D800}=1")).toEqual([word("config.\u{D800}=1")]);
  });
});
