import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "@jest/globals";
import { ConfigError } from "./config/parse-config.ts";
import { defineConfig } from "./config/define-config.ts";
import { int } from "./config/fields.ts";
import { EchoService } from "@tidemark/proto/testing/v1/echo";
import { createCall, implement } from "@tidemark/rpc";
import { startHost, type Host } from "./host.ts";
import { defineModule, type ModuleDefinition } from "./module.ts";

const hosts: Host[] = [];
const quiet = { write() {} };
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.stop()));
});

async function* nothing() {}
const echo = async (request: { text: string }) => ({ text: request.text });
let events: string[] = [];

const server = (options: { ready?: () => Promise<boolean> } = {}): ModuleDefinition =>
  defineModule({
    name: "server",
    config: defineConfig({ size: int({ env: "TIDEMARK_TEST_SIZE", default: 1, min: 1, max: 9, help: "A number." }) }),
    provides: [EchoService],
    needs: [],
    start: async (context) => {
      events.push(`start server ${context.config.size}`);
      return {
        implementations: [implement(EchoService, { read: echo, write: echo, fail: echo, hang: echo, count: nothing })],
        ready: options.ready ?? (async () => true),
        drain: async () => void events.push("drain server"),
        stop: async () => void events.push("stop server"),
      };
    },
  });

const caller = (report: (text: string, ready: boolean) => void): ModuleDefinition =>
  defineModule({
    name: "caller",
    config: {},
    provides: [],
    needs: [{ module: "server", service: EchoService }],
    start: async (context) => {
      events.push("start caller");
      const answer = await context.client(EchoService).read({ text: "hello" }, createCall());
      report(answer.text, await context.peersReady());
      return {
        implementations: [],
        ready: async () => true,
        drain: async () => void events.push("drain caller"),
        stop: async () => void events.push("stop caller"),
      };
    },
  });

async function start(modules: ModuleDefinition[], environment: Record<string, string> = {}): Promise<Host> {
  const host = await startHost({
    name: "test",
    modules,
    environment: { TIDEMARK_LOG_LEVEL: "error", ...environment },
    logDestination: quiet,
  });
  hosts.push(host);
  return host;
}

describe("the host", () => {
  test("starts modules after what they need and stops them backwards, drains first", async () => {
    events = [];
    const host = await start([caller(() => {}), server()], { TIDEMARK_TEST_SIZE: "3" });
    await host.stop();
    expect(events).toEqual([
      "start server 3",
      "start caller",
      "drain caller",
      "drain server",
      "stop caller",
      "stop server",
    ]);
  });

  test("gives a module its peer in the process and over the network alike", async () => {
    const heard: [string, boolean][] = [];
    await start([server(), caller((...fact) => heard.push(fact))]);
    const remote = await start([server()], { TIDEMARK_INTERNAL_TOKEN: "a-shared-token-for-peers" });
    await start([caller((...fact) => heard.push(fact))], {
      TIDEMARK_PEERS: `server=http://127.0.0.1:${remote.internalPort}`,
      TIDEMARK_INTERNAL_TOKEN: "a-shared-token-for-peers",
    });
    expect(heard).toEqual([
      ["hello", true],
      ["hello", true],
    ]);
  });

  test("a module without its peer's address does not start, and what had started is stopped", async () => {
    events = [];
    const other = defineModule({
      name: "first",
      config: {},
      provides: [],
      needs: [],
      start: async () => ({
        implementations: [],
        ready: async () => true,
        stop: async () => void events.push("stop first"),
      }),
    });
    await expect(start([other, caller(() => {})])).rejects.toThrow("needs server: run it here or name its address");
    expect(events).toContain("stop first");
  });

  test("a peer that was not declared cannot be called", async () => {
    const sly = defineModule({
      name: "sly",
      config: {},
      provides: [],
      needs: [],
      start: async (context) => {
        context.client(EchoService);
        return { implementations: [], ready: async () => true };
      },
    });
    await expect(start([server(), sly])).rejects.toThrow("does not declare that it needs");
  });

  test("all faults of the settings are reported together", async () => {
    await expect(
      start([server()], { TIDEMARK_TEST_SIZE: "12", TIDEMARK_GRPC_PORT: "x", TIDEMARK_TYPO: "1" }),
    ).rejects.toThrow(/3 faults[\s\S]*TIDEMARK_GRPC_PORT[\s\S]*TIDEMARK_TEST_SIZE[\s\S]*TIDEMARK_TYPO|3 faults/);
  });

  test("answers liveness always, readiness as its modules do, and Prometheus in full", async () => {
    let ready = false;
    const host = await start([server({ ready: async () => ready })]);
    const get = (path: string) => fetch(`http://127.0.0.1:${host.internalPort}${path}`);
    expect((await get("/livez")).status).toBe(200);
    expect((await get("/readyz")).status).toBe(503);
    ready = true;
    expect((await get("/readyz")).status).toBe(200);
    const metrics = await (await fetch(`http://127.0.0.1:${host.metricsPort}/metrics`)).text();
    expect(metrics).toContain("process_cpu_user_seconds_total");
    expect(metrics).toMatch(/^tidemark_build_info\{version="\d+\.\d+\.\d+",service="[\w-]+"\} 1$/m);
    expect((await get("/else")).status).toBe(404);
  });

  test("has figures on a port of their own alone, where nothing can be called", async () => {
    const host = await start([server()]);
    expect((await fetch(`http://127.0.0.1:${host.internalPort}/metrics`)).status).toBe(404);
    for (const path of ["/livez", "/readyz", `/${EchoService.typeName}/Read`]) {
      const answer = await fetch(`http://127.0.0.1:${host.metricsPort}${path}`, { method: "POST", body: "" });
      expect(answer.status).toBe(404);
    }
  });

  test.each([
    ["TIDEMARK_INTERNAL_HOST", undefined, "is not set"],
    ["TIDEMARK_INTERNAL_HOST", "change-me-to-32-random-characters", "can be guessed"],
    ["TIDEMARK_METRICS_HOST", undefined, "is not set"],
    ["TIDEMARK_METRICS_HOST", "x".repeat(40), "can be guessed"],
  ])("does not start with %s beyond loopback and the token %j", async (name, token, fault) => {
    events = [];
    const settings = { [name]: "0.0.0.0", ...(token === undefined ? {} : { TIDEMARK_INTERNAL_TOKEN: token }) };
    const refused = start([server()], settings);
    await expect(refused).rejects.toThrow(ConfigError);
    await expect(refused).rejects.toThrow(`TIDEMARK_INTERNAL_TOKEN ${fault}`);
    expect(events).toEqual([]);
  });

  test("does not start without a token where a module itself listens beyond loopback", async () => {
    const open = { ...server(), listensOn: () => "0.0.0.0" };
    await expect(start([open])).rejects.toThrow("listens on 0.0.0.0, beyond loopback");
  });

  test("does not start with a guessable token of a module's own port beyond loopback, and names it", async () => {
    const random = { TIDEMARK_INTERNAL_TOKEN: randomBytes(24).toString("base64url") };
    const lettingIn = (host: string) => ({
      ...server(),
      listensOn: () => host,
      exposureSecrets: () => ({ TIDEMARK_DOOR_TOKEN: "change-me-to-32-random-characters" }),
    });
    events = [];
    const refused = start([lettingIn("0.0.0.0")], random);
    await expect(refused).rejects.toThrow(ConfigError);
    await expect(refused).rejects.toThrow("TIDEMARK_DOOR_TOKEN can be guessed");
    expect(events).toEqual([]);
    await start([lettingIn("127.0.0.1")], { ...random, TIDEMARK_INTERNAL_HOST: "0.0.0.0" });
  });

  test("starts beyond loopback with a random token, and refuses who does not present it", async () => {
    const host = await start([server()], {
      TIDEMARK_INTERNAL_HOST: "0.0.0.0",
      TIDEMARK_INTERNAL_TOKEN: randomBytes(24).toString("base64url"),
    });
    const ask = (path: string) => fetch(`http://127.0.0.1:${host.internalPort}${path}`, { method: "POST", body: "" });
    expect((await ask(`/${EchoService.typeName}/Read`)).status).toBe(401);
    expect((await ask("/livez")).status).toBe(200);
    expect((await ask("/readyz")).status).toBe(200);
  });
});
