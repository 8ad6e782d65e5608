import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { expect } from "@jest/globals";
import { parseCredential } from "@tidemark/credentials";
import { isAppError, type AppError } from "@tidemark/errors";
import { createDb, sql, type Db } from "@tidemark/pg";
import { hostedPlans } from "@tidemark/plans";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { ControlService, CredentialKind } from "@tidemark/proto/control/v1/control";
import { createCall, createLocalClient, implement, type Call, type Client } from "@tidemark/rpc";
import { createLog } from "@tidemark/telemetry";
import { createTestDatabase, until } from "@tidemark/testkit";
import type { ControlDeps } from "../src/handlers/deps.ts";
import { controlHandlers } from "../src/handlers/index.ts";
import type { InvitationMessage } from "../src/mail/mail.ts";
import { controlMigrations } from "../src/module.ts";
import { createRunDirectory, type RunDirectory } from "../src/run-directory.ts";
import { findRuns } from "../src/store/find-runs.ts";
import { readChangedPage } from "../src/store/read-changed-page.ts";
import { readRunningPage } from "../src/store/read-running-page.ts";

/** The service over a database of its own, with a clock that the test moves. */
export type Control = {
  client: Client<(typeof ControlService)["method"]>;
  runs: RunDirectory;
  /** As the service's role; row level security is in force. */
  db: Db;
  workerDb: Db;
  /** As the owner, who sees everything. */
  ownerDb: Db;
  url: string;
  operator: Call;
  anyone: Call;
  /** A call by whoever presents this key or session, as a gateway would make it. */
  as(credential: string): Promise<Call>;
  /** Moves the service's clock. */
  pass(time: { seconds?: number; minutes?: number; days?: number }): void;
  now(): Date;
  /** How often the relay was nudged. */
  nudges(): number;
  /** Messages that went out; `failing` makes the next ones fail. */
  mail: { sent: InvitationMessage[]; failing: boolean };
  close(): Promise<void>;
};

/** The schema of the service that owns projects and runs. */
export const runsMigrations = {
  schema: "runs",
  directory: join(import.meta.dirname, "../../runs/src/store/migrations"),
};

/** A directory of runs over the database, which does nothing by itself until it is started. */
export function openRunDirectory(db: Db, pageRows?: number): RunDirectory {
  return createRunDirectory({
    read: {
      runningPage: (page) => readRunningPage(db, page),
      changedPage: (page) => readChangedPage(db, page),
      run: (orgId, runId) => db.withTenant(orgId, async (tx) => (await findRuns(tx, orgId, [runId]))[0]),
    },
    nowMs: () => performance.now(),
    log: createLog({ level: "silent", service: "control-test" }),
    ...(pageRows === undefined ? {} : { pageRows }),
  });
}

export async function startControl(
  settings: Partial<ControlDeps["settings"]> & { mail?: "off" } = {},
): Promise<Control> {
  const database = await createTestDatabase([controlMigrations, runsMigrations]);
  const open = (role: string): Db =>
    createDb({ url: database.url, role, application: "control-test", connectionsMax: 8 });
  const db = open("tidemark_control");
  const workerDb = open("tidemark_control_worker");
  const ownerDb = open("postgres");
  let offsetMs = 0;
  let nudges = 0;
  const now = () => new Date(Date.now() + offsetMs);
  const mail = { sent: [] as InvitationMessage[], failing: false };
  const runs = openRunDirectory(db);
  const handlers = controlHandlers({
    db,
    runs,
    now,
    newId: randomUUID,
    randomBytes,
    nudge: () => {
      nudges += 1;
    },
    mail: {
      available: settings.mail !== "off",
      sendInvitation: async (message) => {
        if (mail.failing) throw new Error("the mail server is down");
        mail.sent.push(message);
        return { previewLink: message.link };
      },
    },
    settings: { plans: hostedPlans, devAuth: true, seatLimits: true, webUrl: undefined, ...settings },
  });
  const client = createLocalClient(ControlService, implement(ControlService, handlers));
  const anyone = createCall();
  return {
    client,
    runs,
    db,
    workerDb,
    ownerDb,
    url: database.url,
    operator: createCall({ identity: create(IdentitySchema, { kind: CallerKind.OPERATOR }) }),
    anyone,
    as: async (credential) => {
      const parsed = parseCredential(credential);
      const kind = parsed?.kind === "session" ? CredentialKind.SESSION : CredentialKind.API_KEY;
      const { entry, organization } = await client.lookupCredential({ kind, id: parsed?.id ?? "" }, anyone);
      if (entry === undefined || entry.revoked) throw new Error("no such credential, or it was revoked");
      const identity = create(IdentitySchema, {
        orgId: entry.orgId,
        kind: kind === CredentialKind.SESSION ? CallerKind.SESSION : CallerKind.API_KEY,
        credentialId: entry.id,
        scopes: entry.scopes,
        projectId: entry.projectId,
        userId: entry.userId,
        role: entry.role,
        planTier: organization?.planTier ?? "",
        billingState: organization?.billingState ?? "",
      });
      return createCall({ identity });
    },
    pass: ({ seconds = 0, minutes = 0, days = 0 }) => {
      offsetMs += (seconds + minutes * 60 + days * 86_400) * 1000;
    },
    now,
    nudges: () => nudges,
    mail,
    close: async () => {
      await runs.stop();
      await Promise.all([db.close(), workerDb.close(), ownerDb.close()]);
      await database.drop();
    },
  };
}

let made = 0;

/** An organization made by the operator, with a short name of its own. */
export async function newOrganization(control: Control, planTier = "premium"): Promise<string> {
  made += 1;
  const { organization } = await control.client.createOrganization({ name: `Org ${made}`, planTier }, control.operator);
  return organization!.id;
}

/** A key's text. */
export async function newKey(control: Control, orgId: string, scopes: string[] = []): Promise<string> {
  const { created } = await control.client.createApiKey({ orgId, scopes }, control.operator);
  return created!.plaintext;
}

/** A member with a session in the organization. */
export async function newMember(
  control: Control,
  orgId: string,
  role: "owner" | "admin" | "member" | "viewer",
): Promise<{ email: string; userId: string; token: string; call: Call }> {
  made += 1;
  const email = `${role}${made}@example.org`;
  if (role === "owner") {
    const { user } = await control.client.createUser({ email }, control.operator);
    const insert = sql(
      "test_insert_owner",
      "INSERT INTO control.memberships (org_id, id, user_id, role, status) VALUES ($1, $2, $3, 'owner', 'active')",
    );
    await control.ownerDb.rows(insert, [orgId, randomUUID(), user!.id]);
  } else {
    await control.client.addSeat({ orgId, email, role }, control.operator);
  }
  const { created } = await control.client.signInForDevelopment({ email, acceptInviteOrgId: orgId }, control.anyone);
  const token = created!.token;
  return { email, userId: created!.view!.user!.id, token, call: await control.as(token) };
}

/** Sets an organization's billing state. */
export async function bill(control: Control, orgId: string, billingState: string): Promise<void> {
  await control.client.updateOrganization({ orgId, billingState }, control.operator);
}

/** The error that a call ends in; the test fails when it does not. */
export async function refusal(call: Promise<unknown>): Promise<AppError> {
  const outcome = await call.then(
    () => new Error("the call went through"),
    (error: unknown) => error,
  );
  if (!isAppError(outcome)) throw outcome;
  return outcome;
}

/** Checks the reason of a refusal. */
export async function expectRefusal(call: Promise<unknown>, reason: AppError["reason"]): Promise<void> {
  expect((await refusal(call)).reason).toBe(reason);
}

/** Everything of the projection from a cursor on, page after page. */
export async function readProjection(control: Control, from = "", limit = 1000) {
  const pages = [];
  let cursor = from;
  for (;;) {
    const page = await control.client.getProjection({ cursor, limit }, control.anyone);
    pages.push(page);
    ({ cursor } = page);
    if (!page.more) break;
  }
  return {
    cursor,
    pages,
    fromStart: pages[0]!.fromStart,
    organizations: pages.flatMap((page) => page.organizations),
    credentials: pages.flatMap((page) => page.credentials),
  };
}

/**
 * A cursor behind everything that has happened. Rows come again as long as any older transaction is
 * open, in whatever database of the server, so this polls until none do.
 */
export async function settledCursor(control: Control): Promise<string> {
  let { cursor } = await readProjection(control);
  return until("the projection to come to rest", async () => {
    const next = await readProjection(control, cursor);
    if (next.organizations.length + next.credentials.length === 0) return next.cursor;
    ({ cursor } = next);
    return undefined;
  });
}
