import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/threat-model.md"), "utf8");

test("every place that the threat model names as a proof is there", () => {
  const places = [...page.matchAll(/`((?:\w[\w-]*\/)+[\w.-]+)`/g)].map(([, place]) => place!);
  expect(places.length).toBeGreaterThan(20);
  expect(places.filter((place) => !existsSync(join(root, place)))).toEqual([]);
});
