import { expect, test } from "@jest/globals";
import { isAllowed, judgeLicenses, packagesOf, renderLicenses } from "./licenses.rules.ts";

test.each(["MIT", "Apache-2.0", "(Apache-2.0 AND BSD-3-Clause)", "(GPL-3.0-only OR MIT)", "MIT OR AGPL-3.0"])(
  "%s is allowed",
  (license) => expect(isAllowed(license)).toBe(true),
);

test.each([
  "GPL-3.0-only",
  "AGPL-3.0",
  "MIT AND GPL-2.0",
  "SSPL-1.0",
  "Unknown",
  "UNLICENSED",
  "",
  "SEE LICENSE IN LICENSE.md",
  "MIT OR (ISC AND GPL-3.0)",
])("%j is not", (license) => expect(isAllowed(license)).toBe(false));

const listed = {
  MIT: [{ name: "b", versions: ["2.0.0", "1.0.0"] }],
  "GPL-3.0": [{ name: "a", versions: ["1.0.0"] }],
};

test("a package whose license is not allowed is named", () => {
  expect(judgeLicenses(packagesOf(listed))).toEqual(["a 1.0.0 has the license GPL-3.0, which is not allowed"]);
});

test("the page is the same on every platform", () => {
  const on = (platform: string) =>
    renderLicenses(packagesOf({ ...listed, ISC: [{ name: `@x/${platform}`, versions: ["1.0.0"] }] }));
  expect(on("linux-x64")).toBe(on("darwin-arm64"));
  expect(on("linux-x64")).toMatch(/^\| `@x\/<platform>` +\| 1\.0\.0 +\| ISC +\|$/m);
  expect(on("linux-x64")).toMatch(/^\| `b` +\| 1\.0\.0, 2\.0\.0 +\| MIT +\|$/m);
});
