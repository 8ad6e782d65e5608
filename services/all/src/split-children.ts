import { join } from "node:path";
import { freePort, startChild } from "@tidemark/local";
import { allModules } from "./modules.ts";

/** The processes of a split start. */
export type SplitChildren = {
  readonly internalUrls: ReadonlyMap<string, string>;
  /** Resolves with a sentence when one of them has ended by itself. */
  readonly failed: Promise<string>;
  /** Ends the gateway first, then the services behind it. */
  stop(): Promise<void>;
};

/** Starts every module as a process of its own, with `settings` and the ports by which they find each other. */
export async function startSplitChildren(
  settings: Readonly<Record<string, string | undefined>>,
  log: (line: string) => void,
): Promise<SplitChildren> {
  const ports = new Map<string, number>();
  for (const { name } of allModules) {
    ports.set(name, await freePort());
  }
  const internalUrls = new Map([...ports].map(([name, port]) => [name, `http://127.0.0.1:${port}`]));
  const peers = [...internalUrls].map(([name, url]) => `${name}=${url}`).join(",");
  const start = async (name: string) => ({
    name,
    child: await startChild({
      command: process.execPath,
      args: [join(import.meta.dirname, "main.ts"), `--target=${name}`],
      cwd: process.cwd(),
      env: {
        ...settings,
        TIDEMARK_INTERNAL_PORT: String(ports.get(name)),
        TIDEMARK_GRPC_PORT: "0",
        TIDEMARK_PEERS: peers,
      },
      onLine: log,
      stopSignals: [
        { signal: "SIGTERM", waitMs: 15_000 },
        { signal: "SIGKILL", waitMs: 5000 },
      ],
    }),
  });
  const children = await Promise.all(allModules.map(({ name }) => start(name)));
  return {
    internalUrls,
    failed: Promise.race(
      children.map(({ name, child }) =>
        child.exited.then(
          ({ code, signal }) => `${name} has ended (${signal ?? code}): ${child.lastLines().slice(-3).join(" ")}`,
        ),
      ),
    ),
    async stop() {
      for (const { child } of children.toReversed()) {
        // Callers end before those they call.
        await child.stop();
      }
    },
  };
}
