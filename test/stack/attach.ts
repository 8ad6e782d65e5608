import { randomUUID } from "node:crypto";
import { createApi, type Api } from "./client.ts";
import { Client, type QueryResultRow } from "pg";

/** `embedded`: all modules in one process, events and artifacts local. `split`: a process per module over NATS and MinIO. */
export type Mode = "embedded" | "split";

/** The address of a running Tidemark, as plain data. */
export type Address = {
  readonly mode: Mode;
  readonly baseUrl: string;
  readonly bootstrapToken: string;
  readonly internalToken: string;
  readonly databaseUrl: string;
  /** By module. */
  readonly grpcPorts: readonly (readonly [string, number])[];
  readonly internalPorts: readonly (readonly [string, number])[];
  readonly metricsPorts: readonly (readonly [string, number])[];
  /** The folder with the bytes of artifacts; in split mode, the store's folder. */
  readonly blobDirectory: string;
};

/** A running Tidemark over real servers, which other tests may use as well. */
export type Stack = Pick<
  Address,
  "mode" | "baseUrl" | "bootstrapToken" | "internalToken" | "databaseUrl" | "blobDirectory"
> & {
  readonly address: Address;
  /** gRPC ports by module. */
  readonly grpcPorts: ReadonlyMap<string, number>;
  readonly internalPorts: ReadonlyMap<string, number>;
  readonly metricsPorts: ReadonlyMap<string, number>;
  /** Returns the figures of a module's process, as Prometheus reads them. */
  metricsText(module: string): Promise<string>;
  /** Without credentials. */
  readonly api: Api;
  /** A new organization with a key of these scopes. */
  organization(options?: { scopes?: string[]; plan?: string }): Promise<{ orgId: string; key: string; api: Api }>;
};

/** Attaches to a running Tidemark. */
export function attach(address: Address): Stack {
  const { mode, baseUrl, bootstrapToken, internalToken, databaseUrl, blobDirectory } = address;
  const api = createApi(baseUrl);
  const metricsPorts = new Map(address.metricsPorts);
  return {
    mode,
    baseUrl,
    bootstrapToken,
    internalToken,
    databaseUrl,
    blobDirectory,
    address,
    grpcPorts: new Map(address.grpcPorts),
    internalPorts: new Map(address.internalPorts),
    metricsPorts,
    metricsText: async (module) => (await fetch(`http://127.0.0.1:${metricsPorts.get(module)}/metrics`)).text(),
    api,
    async organization({ scopes = ["sdk:ingest", "export:read", "runs:control"], plan = "premium" } = {}) {
      const operator = { headers: { "x-svc-bootstrap-token": bootstrapToken } };
      const slug = `org-${randomUUID()}`;
      const made = await api.post("/api/orgs", { slug, name: slug, plan_tier: plan }, operator);
      if (made.status !== 200) throw new Error(`no organization: ${made.status} ${made.text}`);
      const orgId = made.json.organization.id as string;
      const issued = await api.post(`/api/orgs/${orgId}/api-keys`, { name: "test", scopes }, operator);
      if (issued.status !== 200) throw new Error(`no key: ${issued.status} ${issued.text}`);
      const key = issued.json.api_key as string;
      return { orgId, key, api: api.as(key) };
    },
  };
}

/** Runs one statement on the stack's database as its superuser, without any service. */
export async function queryDatabase<Row extends QueryResultRow>(
  stack: Stack,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
