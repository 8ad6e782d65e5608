import { expect, test } from "@jest/globals";
import { nearestName } from "./nearest-name.ts";

const known = ["TIDEMARK_PORT", "TIDEMARK_DATA_DIR", "TIDEMARK_NATS_URL"];

test.each([
  ["a letter left out", "TIDEMARK_PRT", "TIDEMARK_PORT"],
  ["neighbours swapped", "TIDEMARK_PROT", "TIDEMARK_PORT"],
  ["a letter too many", "TIDEMARK_DATAA_DIR", "TIDEMARK_DATA_DIR"],
  ["another word order is too far", "TIDEMARK_DIRECTORY_OF_DATA", undefined],
  ["nothing alike", "XYZ", undefined],
])("%s", (_, mistyped, expected) => {
  expect(nearestName(mistyped, known)).toBe(expected);
});
