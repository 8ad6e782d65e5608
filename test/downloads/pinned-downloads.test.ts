import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { parse } from "yaml";

const root = join(import.meta.dirname, "../..");
const requirements = execFileSync(
  "git",
  ["ls-files", "--cached", "--others", "--exclude-standard", "*requirements.txt"],
  {
    cwd: root,
    encoding: "utf8",
  },
);

describe("every download has a pinned checksum", () => {
  const files = requirements.trim().split("\n");
  test.each(files)("every package of %s", (file) => {
    const text = readFileSync(join(root, file), "utf8").replaceAll(/ \\\n\s*/g, " ");
    const packages = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
    expect(packages.length).toBeGreaterThan(0);
    const pinned = /^[\w.-]+(?:\[[\w,.-]+\])?==\S+(?: ; [^#]*?)?(?: --hash=sha256:[0-9a-f]{64})+$/;
    expect(packages.filter((line) => !pinned.test(line))).toEqual([]);
  });

  test("every package of the lock file", () => {
    const lock = parse(readFileSync(join(root, "pnpm-lock.yaml"), "utf8")) as {
      packages: Record<string, { resolution: { integrity?: string } }>;
    };
    const packages = Object.entries(lock.packages);
    expect(packages.length).toBeGreaterThan(100);
    expect(packages.filter(([, { resolution }]) => resolution.integrity?.startsWith("sha512-") !== true)).toEqual([]);
  });
});
