import { createFolderBlob, createMinioBlob, type Blob } from "@tidemark/blob";
import { createMemoryBus, createNatsBus, type Bus } from "@tidemark/bus";
import type { ConfigOf } from "./config/define-config.ts";
import { createDb, type Db } from "@tidemark/pg";
import type { Log, Metrics } from "@tidemark/telemetry";
import type { hostConfig } from "./host-config.ts";

type HostSettings = ConfigOf<typeof hostConfig>;

/** Opens the pools of a process, one per role, each at its first use. */
export function createPools(settings: HostSettings, log: Log, metrics: Metrics) {
  const pools = new Map<string, Db>();
  const connect = (role: string, application: string) => {
    if (settings.databaseUrl === undefined) throw new Error("TIDEMARK_DATABASE_URL is not set");
    return { url: settings.databaseUrl, role, application: `tidemark-${application}` };
  };
  const open = (role: string, application: string, connectionsMax: number): Db => {
    const known = pools.get(`${application}/${role}`);
    if (known !== undefined) return known;
    const db = createDb({
      ...connect(role, application),
      connectionsMax,
      onQuery: (statement, seconds, failed) => metrics.pgQuery({ statement, seconds, ok: !failed }),
      onError: (error) => log.warn("an idle database connection broke", { error }),
    });
    metrics.watchPool(`${application}/${role}`, () => {
      const { total, idle, waiting } = db.stats();
      return { inUse: total - idle, idle, waiting, max: connectionsMax };
    });
    pools.set(`${application}/${role}`, db);
    return db;
  };
  return {
    service: (schema: string, module: string) => open(`tidemark_${schema}`, module, settings.databaseConnectionsMax),
    connection: (schema: string, module: string) => connect(`tidemark_${schema}`, module),
    worker: (schema: string, module: string) => open(`tidemark_${schema}_worker`, module, 2),
    close: async () => {
      await Promise.all([...pools.values()].map((db) => db.close()));
    },
  };
}

/** Connects to NATS where a server is named; otherwise events stay in the process. */
export async function openBus(settings: HostSettings, log: Log): Promise<Bus> {
  if (settings.natsUrl === undefined) return createMemoryBus({ log });
  return createNatsBus({
    url: settings.natsUrl,
    log,
    ...(settings.natsToken === undefined ? {} : { token: settings.natsToken }),
  });
}

/** Opens S3 where an endpoint is named, otherwise a folder. @throws Error when neither is configured */
export async function openBlob(settings: HostSettings): Promise<Blob> {
  if (settings.s3Endpoint !== undefined) {
    if (settings.s3AccessKey === undefined || settings.s3SecretKey === undefined) {
      throw new Error("TIDEMARK_S3_ENDPOINT also needs TIDEMARK_S3_ACCESS_KEY and TIDEMARK_S3_SECRET_KEY");
    }
    return createMinioBlob({
      endpoint: settings.s3Endpoint,
      ...(settings.s3PublicEndpoint === undefined ? {} : { publicEndpoint: settings.s3PublicEndpoint }),
      bucket: settings.s3Bucket,
      accessKey: settings.s3AccessKey,
      secretKey: settings.s3SecretKey,
    });
  }
  if (settings.blobDirectory === undefined) {
    throw new Error("artifact bytes need TIDEMARK_S3_ENDPOINT or TIDEMARK_BLOB_DIRECTORY");
  }
  return createFolderBlob({ directory: settings.blobDirectory });
}
