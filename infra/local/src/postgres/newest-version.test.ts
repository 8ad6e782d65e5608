import { expect, test } from "@jest/globals";
import { newestVersion } from "./obtain-postgres.ts";

test.each([
  ["minor versions as numbers", ["17.9.0-beta.17", "17.10.0-beta.17", "17.2.0-beta.15"], 17, "17.10.0-beta.17"],
  ["builds of one minor version as numbers", ["18.1.0-beta.9", "18.1.0-beta.16"], 18, "18.1.0-beta.16"],
  ["a release after its pre-releases", ["16.1.0", "16.1.0-beta.3"], 16, "16.1.0"],
  ["beta after alpha", ["14.3.0-alpha.21", "14.3.0-beta.6"], 14, "14.3.0-beta.6"],
  ["a pre-release of a newer minor before an older release", ["15.1.0", "15.2.0-beta.1"], 15, "15.2.0-beta.1"],
  ["only its own major", ["18.4.0", "180.0.0", "1.8.0"], 18, "18.4.0"],
  ["nothing where there is nothing", ["18.4.0"], 19, undefined],
])("orders %s", (_name, versions, major, expected) => {
  expect(newestVersion(versions, major)).toBe(expected);
  expect(newestVersion(versions.toReversed(), major)).toBe(expected);
});
