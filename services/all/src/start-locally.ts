import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { version } from "@tidemark/host";
import { startPostgres } from "@tidemark/local";
import { banner } from "./banner.ts";
import { checkPort } from "./check-port.ts";
import type { CommandLine } from "./command-line.ts";
import { openDataDirectory } from "./data-directory.ts";
import { ensureLocalKey } from "./local-key.ts";
import { localDefaults, localSettings } from "./local-settings.ts";
import { say, type Running } from "./run-local.ts";

/** What a way of running the product gets to start it with. */
export type LocalParts = {
  /** A folder of its own inside the data folder. */
  readonly folder: (name: string) => string;
  /** The user's settings over the defaults of a laptop, and what this start decides. */
  readonly settings: Readonly<Record<string, string | undefined>>;
  /** The gateway's address. */
  readonly baseUrl: string;
  /** Has `stop` called at the end, or when the start fails, the last one first. */
  readonly onStop: (stop: () => Promise<void>) => void;
  /** Ends everything with this sentence as soon as the promise resolves. */
  readonly failsWith: (sentence: Promise<string>) => void;
};

/** What it tells when it runs. */
export type LocalProduct = {
  /** Address of the control module's internal port. */
  controlUrl: string;
  /** How it runs, for the banner; gets what PostgreSQL is called. */
  describe(postgres: string): string;
};

const HOST = "127.0.0.1";

/**
 * Takes the port and the data folder, starts PostgreSQL in it, then the product as `startProduct`
 * does it, makes sure of an API key and prints the banner. A failure stops what has been started.
 * @throws StartError in one line
 */
export async function startLocally(
  line: CommandLine,
  environment: Readonly<Record<string, string | undefined>>,
  startProduct: (parts: LocalParts) => Promise<LocalProduct>,
): Promise<Running> {
  const began = performance.now();
  await checkPort(HOST, line.port);
  const data = await openDataDirectory(line.dataDirectory, line.fresh);
  const stops = [() => data.release()];
  const stop = async (): Promise<void> => {
    for (let last = stops.pop(); last !== undefined; last = stops.pop()) await last();
  };
  try {
    const postgres = await startPostgres({ dataDir: join(line.dataDirectory, "postgres"), log: say });
    stops.push(() => postgres.stop());
    const failures = [
      postgres.exited.then(() => "PostgreSQL has ended by itself; the data folder is intact, start again"),
    ];
    const internalToken = randomBytes(24).toString("base64url");
    const baseUrl = `http://${HOST}:${line.port}`;
    const product = await startProduct({
      folder: (name) => join(line.dataDirectory, name),
      settings: { ...localDefaults, ...environment, ...localSettings(line.port, postgres.url, internalToken) },
      baseUrl,
      onStop: (next) => stops.push(next),
      failsWith: (sentence) => failures.push(sentence),
    });
    const { key, file } = await ensureLocalKey({
      dataDirectory: line.dataDirectory,
      controlUrl: product.controlUrl,
      internalToken,
    });
    say(
      banner({
        version,
        baseUrl,
        key,
        keyFile: file,
        dataDirectory: line.dataDirectory,
        mode: product.describe(`PostgreSQL ${postgres.major}`),
        seconds: (performance.now() - began) / 1000,
      }),
    );
    return { failed: Promise.race(failures), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
