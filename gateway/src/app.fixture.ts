import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { Blob } from "@tidemark/blob";
import { issueCredential, type Scope } from "@tidemark/credentials";
import {
  CredentialEntrySchema,
  CredentialKind,
  OrganizationEntrySchema,
  type CredentialEntry,
  type LookupCredentialResponse,
  LookupCredentialResponseSchema,
} from "@tidemark/proto/control/v1/control";
import { createLog, type Metrics } from "@tidemark/telemetry";
import { createTurns } from "@tidemark/work";
import { createApp, type AppOptions, type AppSettings } from "./app.ts";
import { createAccess, createDirectory, type Directory } from "./auth/directory.ts";
import { createTestHub } from "./changes/change-hub.fixture.ts";
import type { Clients } from "./clients.ts";
import { createRequestCounts } from "./limits/request-counts.ts";
import { createAdmissions } from "./gate/admissions.ts";
import { createSharedBuckets } from "./limits/shared-buckets.fixture.ts";
import { hostedPlans } from "@tidemark/limits";
import type { Role } from "./auth/callers.ts";
import type { Route } from "./route.ts";
import { usualReadPace } from "./gate/read-pace.ts";
import { createSpool } from "./spool/spool.ts";

/** The operator's token of a test gateway. */
export const bootstrapToken = "operator-token-for-tests";

/** The organization that test credentials belong to. */
export const orgId = "0a1b2c3d-0000-4000-8000-000000000001";

/** What a test may set differently. */
export type TestAppOptions = {
  readonly routes: readonly Route[];
  readonly settings?: Partial<AppSettings>;
  readonly ask?: (kind: CredentialKind, id: string) => Promise<LookupCredentialResponse>;
  readonly fresh?: () => boolean;
  readonly options?: Partial<AppOptions>;
};

/** A gateway that listens on a free loopback port. */
export type TestApp = {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  readonly directory: Directory;
  /** Lines that were logged. */
  readonly logged: string[];
  readonly measured: { method: string; route: string; status: number }[];
  /** Both clocks, in milliseconds; they stand still unless a test moves them. */
  readonly clock: { ms: number };
  addKey(scopes: readonly Scope[], more?: Partial<CredentialEntry>): string;
  addSession(role: Role, more?: Partial<CredentialEntry>): string;
  /** A session that was made from a key with these scopes. */
  addSessionOfKey(scopes: readonly Scope[], more?: Partial<CredentialEntry>): string;
  close(): Promise<void>;
};

/** Starts a gateway whose credentials are in memory; no service behind it is called unless a route does so. */
export async function startApp({ routes, settings, ask, fresh, options }: TestAppOptions): Promise<TestApp> {
  const directory = createDirectory();
  directory.put({
    organizations: [create(OrganizationEntrySchema, { id: orgId, slug: "acme", name: "Acme", planTier: "free" })],
    credentials: [],
  });
  const clock = { ms: Date.parse("2026-01-02T03:04:05Z") };
  const logged: string[] = [];
  const measured: TestApp["measured"] = [];
  const requestCounts = createRequestCounts(() => clock.ms);
  const turns = createTurns();
  const log = createLog({
    level: "debug",
    service: "test",
    destination: { write: (line) => void logged.push(line) },
  });
  const app = createApp({
    settings: {
      publicUrl: undefined,
      allowedOrigins: ["https://app.example"],
      trustedProxies: [],
      limits: false,
      plans: hostedPlans,
      bootstrapToken,
      servicePlane: "combined",
      version: "0.0.0",
      deadlineMs: 10_000,
      stallMs: 60_000,
      readPace: usualReadPace,
      bodyBytesHeldMax: 256 * 1024 * 1024,
      connectionsMax: 1000,
      ...settings,
    },
    routes,
    dialectRoutes: [],
    clients: {} as Clients,
    bundle: undefined,
    spool: createSpool({ directory: join(tmpdir(), "tidemark-test-exports"), bytesMax: 64 * 1024 * 1024, log }),
    objects: {} as Blob,
    access: createAccess({
      directory,
      fresh: fresh ?? (() => true),
      ask: ask ?? (() => Promise.resolve(create(LookupCredentialResponseSchema))),
      nowMs: () => clock.ms,
    }),
    changes: createTestHub().hub,
    used: () => undefined,
    alive: () => undefined,
    projection: { loaded: () => true, degraded: () => false, refresh: () => Promise.resolve() },
    leaseTokens: createSharedBuckets(() => clock.ms).lease,
    gateways: () => 1,
    requestCounts,
    probe: () => Promise.resolve(true),
    turns,
    admissions: createAdmissions(),
    log,
    metrics: { httpRequest: (facts) => void measured.push(facts) } as Metrics,
    clocks: { wallMs: () => clock.ms, steadyMs: () => clock.ms },
    ...options,
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const add = (kind: "api_key" | "session", fields: Partial<CredentialEntry>): string => {
    const issued = issueCredential(kind, randomBytes);
    const entry = create(CredentialEntrySchema, {
      kind: kind === "session" ? CredentialKind.SESSION : CredentialKind.API_KEY,
      id: issued.id,
      hash: issued.hash,
      orgId,
      ...(fields as object),
    });
    directory.put({ organizations: [], credentials: [entry] });
    return issued.text;
  };
  return {
    url,
    port: Number(new URL(url).port),
    server: app.server,
    directory,
    logged,
    measured,
    clock,
    addKey: (scopes, more) => add("api_key", { scopes: [...scopes], ...more }),
    addSession: (role, more) => add("session", { role, userId: "0a1b2c3d-0000-4000-8000-0000000000ff", ...more }),
    addSessionOfKey: (scopes, more) => add("session", { scopes: [...scopes], keyId: "0123456789ab", ...more }),
    close: async () => {
      turns.close();
      await app.close();
    },
  };
}
