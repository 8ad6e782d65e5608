import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { version } from "@tidemark/host";
import { cacheDirectory, startError, startPostgres } from "@tidemark/local";
import { obtainBundle } from "@tidemark/web/build";
import { type CommandLine, say, type Running } from "./run-local.ts";
import { openDataDirectory } from "./data-directory.ts";
import { ensureLocalKey, keepRunning, ownerLink, prepareLocalDatabase, type LocalProcesses } from "./local-access.ts";

/** The argument that `startLocally` passes to the function that starts the product. */
export type LocalParts = {
  /** Returns a folder inside the data folder. */
  readonly folder: (name: string) => string;
  /**
   * Returns the settings of a process: the user's over the local defaults, the choices of this start, and, where it needs one, the database URL of
   * its own login.
   */
  readonly settingsOf: (process: string) => Readonly<Record<string, string | undefined>>;
  /** The gateway's address. */
  readonly baseUrl: string;
  /** Registers a function that is called at the end, or when the start fails; in reverse order. */
  readonly onStop: (stop: () => Promise<void>) => void;
  /** Ends everything with this sentence as soon as the promise resolves. */
  readonly failsWith: (sentence: Promise<string>) => void;
};

/** The result of that function when the product runs. */
export type LocalProduct = {
  /** Address of the control module's internal port. */
  controlUrl: string;
  /** Returns one line on how it runs, for the banner; gets name and version of PostgreSQL. */
  describe(postgres: string): string;
};

const HOST = "127.0.0.1";

/**
 * Checks the port, takes the data folder, starts PostgreSQL in it, brings the database up to date, starts the product by `startProduct` as
 * `processes`, ensures that there is an API key, and prints the banner. A failure stops what was started.
 * @throws StartError in one line
 */
export async function startLocally(
  line: CommandLine,
  environment: Readonly<Record<string, string | undefined>>,
  processes: LocalProcesses,
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
    // While PostgreSQL starts: a first start spends its second here, a later one reads some files.
    const bundling = bundleDashboard(environment);
    const postgres = await startPostgres({ dataDir: join(line.dataDirectory, "postgres"), log: say });
    stops.push(() => postgres.stop());
    const failures = [
      postgres.exited.then(() => "PostgreSQL has ended by itself; the data folder is intact, start again"),
    ];
    // A user who sets one wants to call the services directly.
    const internalToken = environment["TIDEMARK_INTERNAL_TOKEN"] || randomBytes(24).toString("base64url");
    const baseUrl = `http://${HOST}:${line.port}`;
    const databaseUrls = await prepareLocalDatabase(postgres.url, processes);
    const settings = {
      ...localDefaults,
      TIDEMARK_DASHBOARD_DIRECTORY: await bundling,
      TIDEMARK_EXPORT_DIRECTORY: join(line.dataDirectory, "exports"),
      ...environment,
      ...localSettings(line.port, internalToken),
    };
    const product = await startProduct({
      folder: (name) => join(line.dataDirectory, name),
      settingsOf: (name) => {
        const url = databaseUrls.get(name);
        return url === undefined
          ? settings
          : { ...settings, TIDEMARK_DATABASE_URL: `${url}?connect_timeout=${CONNECT_SECONDS}` };
      },
      baseUrl,
      onStop: (next) => stops.push(next),
      failsWith: (sentence) => failures.push(sentence),
    });
    const { key, file, oneTimeToken } = await ensureLocalKey({
      dataDirectory: line.dataDirectory,
      controlUrl: product.controlUrl,
      internalToken,
    });
    const { controlUrl } = product;
    stops.push(await keepRunning(line.dataDirectory, { baseUrl, controlUrl, internalToken }));
    say(
      banner({
        version,
        baseUrl,
        key,
        keyFile: file,
        oneTimeToken,
        dataDirectory: line.dataDirectory,
        mode: product.describe(`PostgreSQL ${postgres.major}`),
        seconds: (performance.now() - began) / 1000,
        choseLimits: environment["TIDEMARK_LIMITS"] !== undefined,
      }),
    );
    return { failed: Promise.race(failures), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the folder of the dashboard; undefined, with a message, if it cannot be made: everything else works without it. */
async function bundleDashboard(environment: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  if (environment["TIDEMARK_DASHBOARD_DIRECTORY"] !== undefined) return undefined;
  try {
    return await obtainBundle(
      cacheDirectory({ env: environment, platform: process.platform, home: homedir(), cwd: process.cwd() }),
    );
  } catch (error) {
    say(`The dashboard cannot be bundled, so there are no pages: ${(error as Error).message}`);
    return undefined;
  }
}

// A laptop that is busy with other work may take long to accept a connection.
const CONNECT_SECONDS = 10;

/** Returns the settings that a local start decides, regardless of the environment. */
function localSettings(port: number, internalToken: string): Record<string, string | undefined> {
  return {
    TIDEMARK_PORT: String(port),
    TIDEMARK_DATABASE_URL: undefined,
    TIDEMARK_OWNER_DATABASE_URL: undefined,
    TIDEMARK_MIGRATE: "off",
    TIDEMARK_INTERNAL_TOKEN: internalToken,
  };
}

/** Defaults of a local start: no limits, only warnings in the log. */
const localDefaults: Readonly<Record<string, string>> = {
  TIDEMARK_LIMITS: "off",
  TIDEMARK_LOG_LEVEL: "warn",
  TIDEMARK_DRAIN_SECONDS: "5",
};

/** Checks that the port can be listened on, before anything slow begins. @throws StartError in one line */
async function checkPort(host: string, port: number): Promise<void> {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once("error", reject);
      probe.listen(port, host, resolve);
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") throw startError(`port ${port} is in use: choose another with --port`);
    if (code === "EACCES")
      throw startError(`port ${port} may not be used by this user: choose one above 1023 with --port`);
    throw startError(`port ${port} cannot be used: ${(error as Error).message}`);
  } finally {
    await new Promise<void>((resolve) => probe.close(() => resolve()));
  }
}

/** The facts in the banner. */
type BannerFacts = {
  version: string;
  baseUrl: string;
  key: string;
  keyFile: string;
  oneTimeToken: string;
  dataDirectory: string;
  /** One line on how it runs. */
  mode: string;
  seconds: number;
  /** Whether the user has set whether limits are on. */
  choseLimits: boolean;
};

/** Returns the text that ends the start: the address, the key, and a first request to paste. */
function banner(facts: BannerFacts): string {
  return `
Tidemark is ready (${facts.seconds.toFixed(1)} s). ${facts.mode}

  API        ${facts.baseUrl}
  API key    ${facts.key}
             (kept in ${facts.keyFile}; scopes sdk:ingest, export:read, runs:control)
  Data       ${facts.dataDirectory}
  Version    ${facts.version}
  Reference  ${facts.baseUrl}/openapi.json

Open the dashboard as the owner, once and within ten minutes (--link prints another link):

  ${ownerLink(facts.baseUrl, facts.oneTimeToken)}

Create a first run:

  curl -s -X POST ${facts.baseUrl}/runs -H "Authorization: Bearer ${facts.key}" -H "Content-Type: application/json" -d '{"project": "demo", "config": {"lr": 0.001}}'

From Python (pip install instantml):

  export INSTANTML_API_BASE_URL=${facts.baseUrl} INSTANTML_API_KEY=${facts.key}

${facts.choseLimits ? "Rate and plan limits are as TIDEMARK_LIMITS says" : "Rate and plan limits are off here (TIDEMARK_LIMITS=on switches them on)"}; GET /api/usage returns what is used. Ctrl-C stops everything.
`;
}
