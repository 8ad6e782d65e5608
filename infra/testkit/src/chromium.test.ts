import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { findChromium } from "./chromium.ts";

let bin = "";
beforeEach(async () => {
  bin = await mkdtemp(join(tmpdir(), "tidemark-chromium-"));
});
afterEach(() => rm(bin, { recursive: true, force: true }));

/** Puts an executable on the PATH of the test. */
async function place(name: string, script: string): Promise<string> {
  const path = join(bin, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}
const look = ({ named, isRoot = true }: { named?: string; isRoot?: boolean } = {}) =>
  findChromium({
    env: { PATH: bin, ...(named === undefined ? {} : { TIDEMARK_CHROMIUM: named }) },
    isRoot,
    cacheDir: bin,
    log: () => undefined,
  });
const absent = "no usable Chromium (chromium: not on PATH; chromium-browser: not on PATH; google-chrome: not on PATH)";

test("the first of the known names that starts is taken", async () => {
  await place("chromium", 'echo "no such library" >&2; exit 127');
  const chrome = await place("google-chrome", "exit 0");
  expect(await look()).toEqual({ path: chrome });
});

test("TIDEMARK_CHROMIUM is tried first, and not skipped when it does not start", async () => {
  await place("chromium", "exit 0");
  const own = await place("own", "exit 0");
  expect(await look({ named: own })).toEqual({ path: own });
  const bad = await place("bad", "exit 3");
  expect(await look({ named: bad })).toEqual({
    missing: `TIDEMARK_CHROMIUM names ${bad}, but it cannot be used (exit code 3)`,
  });
});

test("root installs it with apt-get, after an update where the lists are old", async () => {
  const notes = join(bin, "notes");
  const chromium = join(bin, "chromium");
  await place(
    "apt-get",
    `echo "$@" >> ${notes}
case "$*" in
*update*) : > ${bin}/lists ;;
*) [ -e ${bin}/lists ] || exit 100; printf '#!/bin/sh\\nexit 0\\n' > ${chromium}; /bin/chmod 755 ${chromium} ;;
esac`,
  );
  expect(await look()).toEqual({ path: chromium });
  const install = "-o DPkg::Lock::Timeout=300 install --yes --no-install-recommends chromium";
  expect((await readFile(notes, "utf8")).trim().split("\n")).toEqual([
    install,
    "-o DPkg::Lock::Timeout=300 update",
    install,
  ]);
});

test("where nothing will do, the reason is said", async () => {
  expect(await look()).toEqual({ missing: `${absent}, and there is no apt-get to install it with` });
  await place("apt-get", 'echo "E: Unable to locate package chromium" >&2; exit 100');
  expect(await look({ isRoot: false })).toEqual({
    missing: `${absent}, and only root can install it: apt-get install chromium`,
  });
  expect(await look()).toEqual({
    missing: `${absent}, and apt-get could not install it: E: Unable to locate package chromium`,
  });
});
