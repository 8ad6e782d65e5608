import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { startHost } from "@tidemark/host";
import { startPostgres } from "@tidemark/local";
import { banner } from "./banner.ts";
import { checkPort } from "./check-port.ts";
import type { CommandLine } from "./command-line.ts";
import { openDataDirectory } from "./data-directory.ts";
import { knownNames } from "./known-names.ts";
import { ensureLocalKey } from "./local-key.ts";
import { localDefaults, localSettings } from "./local-settings.ts";
import { allModules } from "./modules.ts";
import { runLocal, say, type Running } from "./run-local.ts";

const HOST = "127.0.0.1";

/** Everything in this one process over an embedded PostgreSQL. */
async function start(line: CommandLine): Promise<Running> {
  const began = performance.now();
  await checkPort(HOST, line.port);
  const folder = await openDataDirectory(line.dataDirectory, line.fresh);
  const undo: (() => Promise<void>)[] = [() => folder.release()];
  const stop = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) {
      await step();
    }
  };
  try {
    const postgres = await startPostgres({ dataDir: join(line.dataDirectory, "postgres"), log: say });
    undo.push(() => postgres.stop());
    const internalToken = randomBytes(24).toString("base64url");
    const host = await startHost({
      name: "tidemark",
      modules: allModules,
      alsoKnown: knownNames,
      environment: {
        ...localDefaults,
        ...process.env,
        ...localSettings({
          port: line.port,
          databaseUrl: postgres.url,
          dataDirectory: line.dataDirectory,
          internalToken,
        }),
      },
    });
    undo.push(() => host.stop());
    const { key, file } = await ensureLocalKey({
      dataDirectory: line.dataDirectory,
      controlUrl: `http://${HOST}:${host.internalPort}`,
      internalToken,
    });
    say(
      banner({
        baseUrl: `http://${HOST}:${line.port}`,
        key,
        keyFile: file,
        dataDirectory: line.dataDirectory,
        mode: `One process over PostgreSQL ${postgres.major}; Prometheus metrics on http://${HOST}:${host.internalPort}/metrics.`,
        seconds: (performance.now() - began) / 1000,
      }),
    );
    const failed = postgres.exited.then(() => "PostgreSQL has ended by itself; the data folder is intact, start again");
    return { failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

await runLocal(start);
