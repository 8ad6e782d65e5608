import { expect, test } from "@jest/globals";
import { canceledWords, uploadWords } from "./upload.ts";

test.each([
  [0, 5000, "0 B of 5 KB sent (0%)."],
  [1234, 5000, "1.23 KB of 5 KB sent (24%)."],
  [4999, 5000, "5 KB of 5 KB sent (99%)."],
  [5000, 5000, "All 5 KB sent; the server is processing the file."],
  [0, 0, "All 0 B sent; the server is processing the file."],
])("an upload of %s of %s bytes says so", (sent, total, expected) => {
  expect(uploadWords({ sent, total })).toBe(expected);
});

test("a canceled upload says whether the server has all of it", () => {
  expect(canceledWords({ sent: 10, total: 5000 })).toBe("Canceled after 10 B of 5 KB. Nothing was imported.");
  expect(canceledWords({ sent: 5000, total: 5000 })).toMatch(/^The whole file was sent/);
});
