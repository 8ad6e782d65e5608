import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { expect } from "@jest/globals";
import type { NotedChange } from "@tidemark/bus";
import { parseCredential } from "@tidemark/credentials";
import { isAppError, type AppError } from "@tidemark/errors";
import { createDb, type Db } from "@tidemark/pg";
import { hostedPlans } from "@tidemark/limits";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { ControlService, CredentialKind } from "@tidemark/proto/control/v1/control";
import { createCall, createLocalClient, implement, type Call, type Client } from "@tidemark/rpc";
import { createLog } from "@tidemark/telemetry";
import { createTestDatabase, testSql } from "@tidemark/testkit";
import type { ControlDeps } from "./deps.ts";
import { controlHandlers } from "./handlers.ts";
import type { InvitationMessage } from "./mail/mail.ts";
import { controlMigrations } from "./module.ts";
import { createRunDirectory, type RunDirectory } from "./stops/run-directory.ts";
import { readChangedPage, readRunningPage, findRuns } from "./stops/run-states.sql.ts";

/** The service over its own database, with a clock that the test moves. */
export type Control = {
  client: Client<(typeof ControlService)["method"]>;
  /** The changes that the service noted, in order. */
  noted: readonly NotedChange[];
  runs: RunDirectory;
  /** As the service's role; row level security is in force. */
  db: Db;
  workerDb: Db;
  /** As the owner, who sees everything. */
  ownerDb: Db;
  url: string;
  operator: Call;
  anyone: Call;
  /** Returns a call with this key or session, as a gateway would make it. */
  as(credential: string): Promise<Call>;
  /** Moves the service's clock. */
  pass(time: { seconds?: number; minutes?: number; days?: number }): void;
  now(): Date;
  /** How often the relay was woken. */
  wakeUps(): number;
  /** Messages that were sent; `failing` makes the next ones fail. */
  mail: { sent: InvitationMessage[]; failing: boolean };
  close(): Promise<void>;
};

/** The schema of the service that owns projects and runs. */
export const runsMigrations = {
  schema: "runs",
  directory: join(import.meta.dirname, "../../runs/src/store"),
};

/** Creates a directory of runs over the database, which reads nothing by itself until it is started. */
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

/** A call begins when it is created, and tests use one call for a long time. */
const PATIENCE_MS = 600_000;

/** How a test sets the service up. */
type ControlSetup = Partial<ControlDeps["settings"]> & {
  /** An installation that does not send messages. */
  readonly mail?: "off";
  /** Connections of each role; default 8. */
  readonly connectionsMax?: number;
  /** A wrapper between the service and its database. */
  readonly around?: (db: Db) => Db;
};

/** Starts the service over a new database. */
export async function startControl(setup: ControlSetup = {}): Promise<Control> {
  const { mail: mailSetting, connectionsMax = 8, around = (db: Db) => db, ...settings } = setup;
  const database = await createTestDatabase([controlMigrations, runsMigrations]);
  const open = (role: string, more: { statementTimeoutMs?: number } = {}): Db =>
    createDb({ url: database.url, role, application: "control-test", connectionsMax, ...more });
  const db = around(open("tidemark_control"));
  const workerDb = around(open("tidemark_control_worker"));
  // It fills tables, which takes long while other tests run.
  const ownerDb = open("postgres", { statementTimeoutMs: PATIENCE_MS });
  let offsetMs = 0;
  let wakeUps = 0;
  const noted: NotedChange[] = [];
  const now = () => new Date(Date.now() + offsetMs);
  const mail = { sent: [] as InvitationMessage[], failing: false };
  const runs = openRunDirectory(db);
  const handlers = controlHandlers({
    db,
    runs,
    now,
    newId: randomUUID,
    randomBytes,
    noteChange: (change) => void noted.push(change),
    wakeRelay: () => {
      wakeUps += 1;
    },
    mail: {
      available: mailSetting !== "off",
      sendInvitation: async (message) => {
        if (mail.failing) throw new Error("the mail server is down");
        mail.sent.push(message);
        return { previewLink: message.link };
      },
    },
    settings: {
      plans: hostedPlans,
      devAuth: true,
      seatLimits: true,
      webUrl: undefined,
      graceDays: 30,
      oidc: undefined,
      ...settings,
    },
  });
  const client = createLocalClient(ControlService, implement(ControlService, handlers));
  const anyone = createCall({ timeoutMs: PATIENCE_MS });
  return {
    client,
    noted,
    runs,
    db,
    workerDb,
    ownerDb,
    url: database.url,
    operator: createCall({
      identity: create(IdentitySchema, { kind: CallerKind.OPERATOR }),
      timeoutMs: PATIENCE_MS,
    }),
    anyone,
    as: async (credential) => {
      const parsed = parseCredential(credential);
      const kind = parsed?.kind === "session" ? CredentialKind.SESSION : CredentialKind.API_KEY;
      const { entry, organization } = await client.lookupCredential({ kind, id: parsed?.id ?? "" }, anyone);
      if (entry === undefined || entry.revoked) throw new Error("no such credential, or it was revoked");
      const identity = create(IdentitySchema, {
        orgId: entry.orgId,
        kind: kind === CredentialKind.SESSION && entry.keyId === "" ? CallerKind.SESSION : CallerKind.API_KEY,
        credentialId: entry.keyId || entry.id,
        scopes: entry.scopes,
        projectId: entry.projectId,
        userId: entry.userId,
        role: entry.role,
        planTier: organization?.planTier ?? "",
        billingState: organization?.billingState ?? "",
      });
      return createCall({ identity, timeoutMs: PATIENCE_MS });
    },
    pass: ({ seconds = 0, minutes = 0, days = 0 }) => {
      offsetMs += (seconds + minutes * 60 + days * 86_400) * 1000;
    },
    now,
    wakeUps: () => wakeUps,
    mail,
    close: async () => {
      await runs.stop();
      await Promise.all([db.close(), workerDb.close(), ownerDb.close()]);
      await database.drop();
    },
  };
}

/** Creates an organization as the operator, with a short unique name. */
export async function newOrganization(control: Control, planTier = "premium"): Promise<string> {
  const name = `Org ${randomUUID()}`;
  const { organization } = await control.client.createOrganization({ name, planTier }, control.operator);
  return organization!.id;
}

/** Creates a key and returns its text. */
export async function newKey(control: Control, orgId: string, scopes: string[] = []): Promise<string> {
  const { created } = await control.client.createApiKey({ orgId, scopes }, control.operator);
  return created!.plaintext;
}

/** Returns an address that no other test person has. */
export function newEmail(): string {
  return `person-${randomUUID()}@example.org`;
}

/** Signs a person in by their address. */
export async function signIn(control: Control, wish: Parameters<Control["client"]["signInForDevelopment"]>[0]) {
  return (await control.client.signInForDevelopment(wish, control.anyone)).created!;
}

/** Adds a member with a session in the organization. */
export async function newMember(
  control: Control,
  orgId: string,
  role: "owner" | "admin" | "member" | "viewer",
): Promise<{ email: string; userId: string; token: string; call: Call }> {
  const email = `${role}-${randomUUID()}@example.org`;
  if (role === "owner") {
    const { user } = await control.client.createUser({ email }, control.operator);
    const insert = testSql(
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

/** Returns the error that a call fails with; the test fails when it succeeds. */
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
