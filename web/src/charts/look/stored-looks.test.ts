import { expect, test } from "@jest/globals";
import { readLooks, readPlaces } from "./stored-looks.ts";

test.each([[null], ["{"], ['{"a":1}']])("nothing is read of %j", (text) => {
  expect(readLooks(text)).toEqual([]);
  expect(readPlaces(text)).toEqual([]);
});

test("of stored looks what is not in the right form is left out", () => {
  const stored = [
    ["a", { color: "#12AB34", dash: 1 }],
    ["b", { color: "red", dash: 99, place: 2 }],
    ["c"],
    3,
    ["d", null],
  ];
  expect(readLooks(JSON.stringify(stored))).toEqual([
    ["a", { color: "#12AB34", dash: 1 }],
    ["b", { place: 2 }],
  ]);
});

test("of stored places what is not in the right form is left out", () => {
  expect(readPlaces('[["a",3],["b",-1],["c",1.5],["d","2"],[4,4],"e"]')).toEqual([["a", 3]]);
});
