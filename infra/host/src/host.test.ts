import { afterEach, describe, expect, test } from "@jest/globals";
import { defineConfig, int } from "@tidemark/config";
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
    const metrics = await (await get("/metrics")).text();
    expect(metrics).toContain("process_cpu_user_seconds_total");
    expect(metrics).toMatch(/^tidemark_build_info\{version="\d+\.\d+\.\d+",service="[\w-]+"\} 1$/m);
    expect((await get("/else")).status).toBe(404);
  });
});
