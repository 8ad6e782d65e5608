import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { freePort } from "@tidemark/local";
import { requireServers, until } from "@tidemark/testkit";
import { createApi } from "../stack/client.ts";
import { testDeep } from "../stack/describe-with.ts";

// The programs behind `npm start` and `npm run split`, as a newcomer runs them.

const root = join(import.meta.dirname, "../..");
const servers = await requireServers(["nats-server", "minio"]);

type Program = { output(): string; ended: Promise<number | null>; signal(name: NodeJS.Signals): void; pid: number };

function run(program: string, args: string[], settings: Readonly<Record<string, string>> = {}): Program {
  const { PATH = "", HOME = "", NODE_COMPILE_CACHE = "" } = process.env;
  const child = spawn(process.execPath, [join(root, "services/all/src", program), ...args], {
    cwd: root,
    env: { PATH, HOME, NODE_COMPILE_CACHE, NODE_NO_WARNINGS: "1", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return {
    output: () => output,
    ended: new Promise((resolve) => child.once("exit", resolve)),
    signal: (name) => void child.kill(name),
    pid: child.pid ?? 0,
  };
}

const ready = (program: Program): Promise<boolean> => {
  const early = program.ended.then((code) => {
    throw new Error(`it ended with ${code}:\n${program.output()}`);
  });
  return Promise.race([until("the banner", () => program.output().includes("Tidemark is ready")), early]);
};

describe.each(servers === undefined ? ["start.ts"] : ["start.ts", "split.ts"])("%s", (name) => {
  let directory = "";
  let port = 0;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "tidemark-start-"));
    port = await freePort();
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  const testOnce = name === "start.ts" ? test : testDeep;
  const start = (...more: string[]): Program =>
    run(name, ["--port", String(port), "--data-dir", join(directory, "data"), ...more]);

  test("on an empty folder prints a request that works when pasted, and a link that signs in once, and ends cleanly", async () => {
    const first = start();
    await ready(first);
    const curl = /^ {2}(curl -s -X POST .*)$/m.exec(first.output())?.[1] ?? "";
    const pasted = spawnSync("bash", ["-c", curl], { encoding: "utf8" });
    expect(JSON.parse(pasted.stdout)).toMatchObject({
      created: true,
      run: { project: "demo", config: { lr: 0.001 } },
    });
    const key = (await readFile(join(directory, "data", "api-key"), "utf8")).trim();
    expect(curl).toContain(key);
    const [, link, token] = /^ {2}(http:\/\/\S+)\/signin#token=(tm_once_\w+)$/m.exec(first.output()) ?? [];
    expect(link).toBe(`http://127.0.0.1:${port}`);
    const signIn = (headers: Record<string, string>) =>
      createApi(link!).post("/api/auth/one-time", { token }, { headers: { origin: link!, ...headers } });
    // A request from another host does not use it up.
    expect((await signIn({ host: "tidemark.example" })).status).toBe(401);
    expect((await signIn({ "x-forwarded-for": "192.0.2.1" })).status).toBe(401);
    // The page that the link opens, and the request that it sends.
    const page = await fetch(`${link}/signin`, { headers: { accept: "text/html" } });
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const signedIn = await signIn({});
    expect(String(signedIn.headers["set-cookie"])).toMatch(/^tidemark_session=tm_session_/);
    expect(signedIn.json).toMatchObject({
      authenticated: true,
      organization: { slug: "local" },
      membership: { role: "owner" },
    });
    expect((await signIn({})).status).toBe(401);
    const again = run(name, ["--link", "--data-dir", join(directory, "data")]);
    expect(await again.ended).toBe(0);
    const [, other] = /^http:\S+\/signin#token=(tm_once_\w+)\n$/.exec(again.output()) ?? [];
    const headers = { origin: link! };
    expect((await createApi(link!).post("/api/auth/one-time", { token: other }, { headers })).status).toBe(200);
    expect((await stat(join(directory, "data", "running.json"))).mode & 0o777).toBe(0o600);
    expect(first.output()).toMatch(/^ {2}Version {4}\d+\.\d+\.\d+$/m);
    expect((await stat(join(directory, "data", "api-key"))).mode & 0o777).toBe(0o600);
    first.signal("SIGINT");
    expect(await first.ended).toBe(0);
    const late = run(name, ["--link", "--data-dir", join(directory, "data")]);
    expect(await late.ended).toBe(1);
    expect(late.output()).toMatch(/^tidemark: no server runs with the data folder .*\n$/);
  });

  testOnce(
    "keeps data and key over a restart, and tells a second one on the same folder or the same port so in one line",
    async () => {
      const again = start();
      await ready(again);
      const key = (await readFile(join(directory, "data", "api-key"), "utf8")).trim();
      const api = createApi(`http://127.0.0.1:${port}`, key);
      expect((await api.get("/runs")).json.runs).toMatchObject([{ project: "demo" }]);
      expect((await api.get("/health")).status).toBe(200);
      const samePort = run(name, ["--port", String(port), "--data-dir", join(directory, "other")]);
      expect(await samePort.ended).toBe(1);
      expect(samePort.output()).toBe(`tidemark: port ${port} is in use: choose another with --port\n`);
      const sameFolder = run(name, ["--port", String(await freePort()), "--data-dir", join(directory, "data")]);
      expect(await sameFolder.ended).toBe(1);
      expect(sameFolder.output()).toMatch(/^tidemark: the data folder .* is in use by another Tidemark .*\n$/);
      again.signal("SIGTERM");
      expect(await again.ended).toBe(0);
    },
  );

  testDeep(
    "killed with -9 it leaves nothing that blocks the next start, and nothing that was acknowledged is gone",
    async () => {
      const first = start();
      await ready(first);
      const key = (await readFile(join(directory, "data", "api-key"), "utf8")).trim();
      const api = createApi(`http://127.0.0.1:${port}`, key);
      const made = await api.post("/runs", { name: "survivor" });
      first.signal("SIGKILL");
      await first.ended;
      expect(made.status).toBe(200);
      // The gateway of a split start needs a moment to notice that its parent is gone.
      const second = await until("the port to be free and the start to succeed", async () => {
        const program = start();
        await ready(program);
        return program;
      });
      expect((await api.get("/runs?sort_by=created&limit=1")).json.runs[0].name).toBe("survivor");
      second.signal("SIGINT");
      expect(await second.ended).toBe(0);
    },
  );

  testOnce("--fresh starts over; an internal token that the user sets lets a program call the services", async () => {
    const internalPort = await freePort();
    const fresh = run(name, ["--port", String(port), "--data-dir", join(directory, "data"), "--fresh"], {
      TIDEMARK_INTERNAL_PORT: String(internalPort),
      TIDEMARK_INTERNAL_TOKEN: "known to the user",
    });
    await ready(fresh);
    const key = (await readFile(join(directory, "data", "api-key"), "utf8")).trim();
    expect((await createApi(`http://127.0.0.1:${port}`, key).get("/runs")).json.runs).toEqual([]);
    const ask = async (token: string): Promise<string> => {
      const path = "tidemark.control.v1.ControlService/GetAuthConfig";
      const answer = await fetch(`http://127.0.0.1:${internalPort}/${path}`, {
        method: "POST",
        headers: { "content-type": "application/proto", "tidemark-internal-token": token },
      });
      return answer.ok ? "answered" : ((await answer.json()) as { code: string }).code;
    };
    expect(await ask("known to the user")).toBe("answered");
    expect(await ask("another")).toBe("unauthenticated");
    fresh.signal("SIGINT");
    expect(await fresh.ended).toBe(0);
  });
});

test("a setting that does not exist is named, with the nearest that does, and the exit code is not 0", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tidemark-start-"));
  const child = spawnSync(
    process.execPath,
    [
      join(root, "services/all/src/start.ts"),
      "--data-dir",
      join(directory, "data"),
      "--port",
      String(await freePort()),
    ],
    {
      cwd: root,
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], TIDEMARK_LIMIT: "off", NODE_NO_WARNINGS: "1" },
      encoding: "utf8",
    },
  );
  expect(child.status).toBe(1);
  expect(child.stderr).toContain("TIDEMARK_LIMIT");
  expect(child.stderr).toContain("TIDEMARK_LIMITS");
  await rm(directory, { recursive: true, force: true });
});
