import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";

import { CallerKind } from "@tidemark/proto/common/v1/common";
import { CredentialKind } from "@tidemark/proto/control/v1/control";
import type { Call } from "@tidemark/rpc";
import { createReadCounter, testSql } from "@tidemark/testkit";
import { newEmail, newMember, startControl, type Control } from "./control.fixture.ts";
import { sweepDeviceLogins } from "./device-login/device-logins.sql.ts";
import { sweepInvitations } from "./invitations/invitations.sql.ts";
import { writeCursor } from "./projection/projection-cursor.rules.ts";
import { sweepSessions } from "./sessions/sessions.sql.ts";
import { seedSkewed } from "./skewed.fixture.ts";
import { callBy, newRuns } from "./stops/runs.fixture.ts";
import { foreignTransactionResets } from "./upkeep/upkeep.sql.ts";

// The amount that a request reads depends on its response, not on the size of the organization: one has 20,000 members, keys and
// invitations here, a thousand others have 1 to 10. Blocks count as often as they are fetched: reading a row by an index takes
// three or four, a new row a few in every index. The large organization's part of an index has more than a hundred.

const SIZE = 20_000;
/** More often than PostgreSQL plans a kept statement for its values. */
const TIMES = 7;
const SWEPT = 20;
const page = { limit: 100, offset: 0n };
const later = new Date(Date.now() + 90 * 86_400_000);

const counter = createReadCounter();
let control: Control;
let orgId: string;
let everywhere: Call;
let member: { token: string; call: Call };
let key: { id: string; accountId: string; credential: string };
let project: { id: string; name: string };
let invitationIds: string[];
let liveKeyIds: string[];
let runIds: string[];
let endedRunIds: string[];

function pick<Row>(columns: string, table: string): Promise<Row[]> {
  const text = `SELECT ${columns} FROM ${table} WHERE org_id = $1 OFFSET ${SIZE / 2} LIMIT 1`;
  return control.ownerDb.rows<Row>(testSql(text), [orgId]);
}

beforeAll(async () => {
  control = await startControl({ connectionsMax: 1, around: counter.around });
  const skewed = await seedSkewed(control.ownerDb, { organizations: 1000, membersMax: 10, size: SIZE });
  orgId = skewed.largeOrgId;
  everywhere = callBy(orgId, { kind: CallerKind.SESSION, userId: skewed.everywhereUserId, role: "member" });
  member = await newMember(control, orgId, "admin");
  const ids = `id, service_account_id AS "accountId", credential_id AS credential`;
  [key] = (await pick<typeof key>(ids, "control.api_keys")) as [typeof key];
  [project] = (await pick<typeof project>("id, name", "runs.projects")) as [typeof project];
  const made = await Promise.all(
    Array.from({ length: 2 * TIMES }, () => control.client.createApiKey({ orgId }, control.operator)),
  );
  liveKeyIds = made.map(({ created }) => created!.key!.id);
  ({ ids: runIds } = await newRuns(control, orgId, 2000));
  ({ ids: endedRunIds } = await newRuns(control, orgId, 100, "finished"));
});
afterAll(() => control.close());

const newest = testSql(`SELECT changed_xid::text AS xid, max(credential_id) AS id FROM control.api_keys
   GROUP BY 1 ORDER BY count(*) DESC LIMIT 1`);

/** Returns a cursor after the last of very many keys that one transaction has written. */
async function cursorBehindKeys(): Promise<string> {
  const { xid, id } = (await control.ownerDb.one<{ xid: string; id: string }>(newest, []))!;
  return writeCursor({
    floor: BigInt(xid),
    pass: { snapshot: true, after: { xid: BigInt(xid), kind: "api_key", id } },
  });
}

/** The name of the request, how many blocks it may fetch, and the request. */
const cases: [what: string, blocksMax: number, ask: () => Promise<unknown>][] = [
  ["100 seats", 500, () => control.client.listSeats({ orgId, page }, control.operator)],
  ["100 keys and who made them", 500, () => control.client.listApiKeys({ orgId, page }, control.operator)],
  ["100 invitations", 150, () => control.client.listInvitations({ orgId, page }, control.operator)],
  ["100 organizations", 150, () => control.client.listOrganizations({ page }, control.operator)],
  ["100 users", 150, () => control.client.listUsers({ page }, control.operator)],
  ["the organizations of a user who is in all 1,001", 12_000, () => control.client.listMemberships({}, everywhere)],
  ["the organizations of a member of the large one", 30, () => control.client.listMemberships({}, member.call)],
  ["who is signed in", 50, () => control.client.getSession({ token: member.token }, control.anyone)],
  [
    "a person who signs in",
    90,
    () => control.client.signInForDevelopment({ email: "0-9@seeded.example" }, control.anyone),
  ],
  // These two look at the 100 invitations that are pending.
  ["a new seat", 450, () => control.client.addSeat({ orgId, email: newEmail() }, control.operator)],
  ["a new invitation", 450, () => control.client.createInvitation({ orgId, email: newEmail() }, control.operator)],
  [
    "an invitation that is revoked",
    50,
    () => control.client.revokeInvitation({ orgId, invitationId: invitationIds.pop()! }, control.operator),
  ],
  // These count the keys of the organization that are not revoked.
  ["a new key", 90, () => control.client.createApiKey({ orgId }, control.operator)],
  [
    "a new key for a project with this id",
    90,
    () => control.client.createApiKey({ orgId, projectId: project.id }, control.operator),
  ],
  [
    "a new key for a project with this name",
    90,
    () => control.client.createApiKey({ orgId, project: project.name }, control.operator),
  ],
  [
    "a key that is revoked, with its sessions",
    50,
    () => control.client.revokeApiKey({ orgId, keyId: liveKeyIds.pop()! }, control.operator),
  ],
  ["a key that was revoked before", 30, () => control.client.revokeApiKey({ orgId, keyId: key.id }, control.operator)],
  [
    "a service account that is disabled",
    80,
    () => control.client.disableServiceAccount({ orgId, serviceAccountId: key.accountId }, control.operator),
  ],
  [
    "a state that changes",
    50,
    () => control.client.updateOrganization({ orgId, billingState: "paid_active" }, control.operator),
  ],
  ["a user who is known", 30, () => control.client.createUser({ email: "0-7@seeded.example" }, control.operator)],
  ["a name that is taken", 10, () => control.client.checkOrganizationName({ name: "Seeded 7" }, control.anyone)],
  [
    "a device login from the beginning to its key",
    170,
    async () => {
      const { userCode, deviceCode } = await control.client.startDeviceLogin({}, control.anyone);
      await control.client.confirmDeviceLogin({ userCode }, member.call);
      await control.client.pollDeviceLogin({ deviceCode }, control.anyone);
    },
  ],
  [
    "a key that a gateway does not know",
    20,
    () => control.client.lookupCredential({ kind: CredentialKind.API_KEY, id: key.credential }, control.anyone),
  ],
  [
    "100 credentials that were used",
    500,
    () => {
      const kind = CredentialKind.API_KEY;
      const use = { kind, id: key.credential, usedAt: new Date().toISOString() };
      const others = Array.from({ length: 99 }, (_, i) => ({ ...use, id: `unknown ${i}` }));
      return control.client.recordCredentialUse({ uses: [use, ...others] }, control.anyone);
    },
  ],
  // Each kind is read up to the size of the page, and memberships with the sessions; four of five keys are revoked, which costs nothing.
  ["the first 1,000 rows of the projection", 6500, () => control.client.getProjection({ limit: 1000 }, control.anyone)],
  [
    "10 rows of the projection behind 20,000 that one transaction has written",
    120,
    async () => control.client.getProjection({ cursor: await cursorBehindKeys(), limit: 10 }, control.anyone),
  ],
  ["a run that is not in memory", 20, () => control.client.getStopSignal({ runId: endedRunIds.pop()! }, callBy(orgId))],
  // Most of these blocks are the change of each run in the indexes of the runs service.
  ["a stop of 100 runs", 20_000, () => control.client.stopRuns({ runIds: runIds.splice(0, 100) }, callBy(orgId))],
  [`${SWEPT} sessions that have ended`, 250, () => sweepSessions(control.workerDb, later, SWEPT)],
  [`${SWEPT} device logins that have ended`, 250, () => sweepDeviceLogins(control.workerDb, later, SWEPT)],
  [`${SWEPT} invitations that have expired`, 700, () => sweepInvitations(control.workerDb, later, SWEPT)],
  [
    "rows of another server, of which there are none",
    50,
    async () => {
      for (const reset of foreignTransactionResets) await reset(control.workerDb, SWEPT);
    },
  ],
];

describe.each(["never analyzed", "analyzed"])("in a database that was %s, reads are bound for", (state) => {
  const pending = testSql("SELECT id FROM control.invitations WHERE org_id = $1 AND status = 'pending' LIMIT 10");
  beforeAll(async () => {
    if (state === "analyzed") await control.ownerDb.rows(testSql("ANALYZE"), []);
    invitationIds = (await control.ownerDb.rows<{ id: string }>(pending, [orgId])).map(({ id }) => id);
  });

  test.each(cases)("%s", async (_what, blocksMax, ask) => {
    for (let i = 1; i < TIMES; i += 1) await ask();
    const reads = await counter.readsOf(ask);
    // Includes the tables, so that a failure names them.
    expect(reads.blocks > blocksMax ? reads : undefined).toBeUndefined();
    expect(reads.blocks).toBeGreaterThan(0);
  });
});
