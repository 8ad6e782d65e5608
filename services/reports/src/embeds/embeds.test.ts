import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueCredential, parseCredential } from "@tidemark/credentials";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import { callOf, nobody, startReports, type ReportsFixture } from "../reports.fixture.ts";

let fixture: ReportsFixture;
beforeAll(async () => {
  fixture = await startReports();
});
afterAll(() => fixture.close());

const reason = (wanted: string) => expect.objectContaining({ reason: wanted });
const keyOf = (orgId: string = randomUUID(), credentialId = "key000000001") => callOf(orgId, { credentialId });
const wish = {
  runIds: [randomUUID(), randomUUID()],
  allowedParentOrigin: "https://portal.test",
  ttlSeconds: 900,
  theme: "dark",
  panelsMax: 8,
  pointsMax: 500,
};
const make = async (call = keyOf(), more: object = {}) => {
  const { session, token } = await fixture.client.createEmbedSession({ ...wish, ...more }, call);
  return { ...session!, token };
};
const open = (sessionId: string, token: string) => fixture.client.openEmbedSession({ sessionId, token }, nobody());
const expire = (id: string, ago = "1 second") =>
  fixture.ask("UPDATE reports.embed_sessions SET expires_at = clock_timestamp() - $2::interval WHERE id = $1", id, ago);

describe("an embed session", () => {
  test("opens with its token, for callers without credentials, and keeps the rights of its key", async () => {
    const orgId = randomUUID();
    const projectId = randomUUID();
    const call = callOf(orgId, { credentialId: "key000000001", projectId, scopes: ["export:read"] });
    const { token, ...session } = await make(call);
    const { id, expiresAt, $typeName: _type, ...rest } = session;
    expect(rest).toEqual({
      orgId,
      keyId: "key000000001",
      projectId,
      scopes: ["export:read"],
      allowedParentOrigin: "https://portal.test",
      runIds: wish.runIds,
      theme: "dark",
      panelsMax: 8,
      pointsMax: 500,
    });
    const lives = Date.parse(expiresAt) - Date.now();
    expect(lives > 850_000 && lives < 950_000).toBe(true);
    expect((await open(id.toUpperCase(), token)).session).toEqual(session);
    const { session: shown, expired } = await fixture.client.getEmbedPolicy({ sessionId: id }, nobody());
    expect([shown, expired]).toEqual([{ ...session, runIds: [] }, false]);
  });

  test("is stored with the hash of its token alone", async () => {
    const { id, token } = await make();
    const [row] = await fixture.ask<{ row: string; token_hash: Buffer }>(
      "SELECT s::text AS row, token_hash FROM reports.embed_sessions s WHERE id = $1",
      id,
    );
    const { hash, kind } = parseCredential(token)!;
    expect([kind, row!.token_hash.equals(hash), row!.row.includes(token.slice(-30))]).toEqual(["embed", true, false]);
  });

  test.each<[string, (made: { id: string; token: string }) => Promise<[string, string]>]>([
    ["no token", ({ id }) => Promise.resolve([id, ""])],
    ["another kind of token", ({ id }) => Promise.resolve([id, issueCredential("share", randomBytes).text])],
    ["a token that was never issued", ({ id }) => Promise.resolve([id, issueCredential("embed", randomBytes).text])],
    ["the token of another session", async ({ id }) => [id, (await make()).token]],
    ["a session that does not exist", ({ token }) => Promise.resolve([randomUUID(), token])],
    [
      "a session that expired",
      async ({ id, token }) => {
        await expire(id);
        return [id, token];
      },
    ],
  ])("does not open with %s, and does not tell why", async (_, presented) => {
    await expect(open(...(await presented(await make())))).rejects.toEqual(
      expect.objectContaining({ reason: "unauthenticated", message: "invalid or expired embed token" }),
    );
  });

  test("that expired is known for its frame; one that never was is not_found", async () => {
    const { id, token } = await make();
    await expire(id);
    expect((await fixture.client.getEmbedPolicy({ sessionId: id }, nobody())).expired).toBe(true);
    for (const sessionId of [randomUUID(), "x"]) {
      await expect(fixture.client.getEmbedPolicy({ sessionId }, nobody())).rejects.toEqual(reason("not_found"));
    }
    await expect(open("x", token)).rejects.toEqual(reason("not_found"));
  });

  test("is forgotten a day after it expired, when the next one is created", async () => {
    const call = keyOf();
    const [old, young] = [await make(call), await make(call)];
    await expire(old.id, "25 hours");
    await expire(young.id, "23 hours");
    await make(call);
    const kept = await fixture.ask<{ id: string }>(
      "SELECT id FROM reports.embed_sessions WHERE id = ANY ($1::uuid[])",
      [old.id, young.id],
    );
    expect(kept.map(({ id }) => id)).toEqual([young.id]);
  });

  test.each<[string, object, string]>([
    ["no runs", { runIds: [] }, "run_ids"],
    ["101 runs", { runIds: Array.from({ length: 101 }, () => randomUUID()) }, "run_ids"],
    ["a run that is not a UUID", { runIds: ["x"] }, "run_ids"],
    ["no origin", { allowedParentOrigin: "" }, "allowed_parent_origin"],
    ["too short a life", { ttlSeconds: 59 }, "ttl_seconds"],
    ["too long a life", { ttlSeconds: 3601 }, "ttl_seconds"],
    ["another theme", { theme: "pink" }, "theme"],
    ["too many panels", { panelsMax: 9 }, "panels_max"],
    ["no points", { pointsMax: 0 }, "points_max"],
  ])("is not created with %s", async (_, more, field) => {
    await expect(make(keyOf(), more)).rejects.toEqual(expect.objectContaining({ reason: "bad_request", field }));
  });

  test("is not created by a session or without credentials", async () => {
    for (const call of [callOf(randomUUID(), { kind: CallerKind.SESSION, credentialId: "s" }), nobody()]) {
      await expect(make(call)).rejects.toEqual(reason("unauthenticated"));
    }
  });
});

describe("the number of live sessions", () => {
  const fill = (orgId: string, keyId: string, count: number) =>
    fixture.ask(
      `INSERT INTO reports.embed_sessions
       SELECT $1::uuid, gen_random_uuid(), $2 || i, NULL, '{}', sha256('x'), 'https://a.test', ARRAY[gen_random_uuid()], 'dark', 1, 1,
              clock_timestamp() + interval '1 minute'
       FROM generate_series(1, $3::integer) AS i`,
      orgId,
      keyId,
      count,
    );

  test("is 100 of a key, also when they are created simultaneously; expired ones do not count", async () => {
    const orgId = randomUUID();
    const call = keyOf(orgId);
    await fill(orgId, "", 1);
    await fixture.ask("UPDATE reports.embed_sessions SET key_id = 'key000000001' WHERE org_id = $1", orgId);
    for (let i = 0; i < 97; i += 1) await make(call);
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => make(call)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    await expect(make(call)).rejects.toEqual(reason("bad_request"));
    const other = await make(keyOf(orgId, "key000000002"));
    expect(other.keyId).toBe("key000000002");
    await fixture.ask(
      "UPDATE reports.embed_sessions SET expires_at = clock_timestamp() WHERE org_id = $1 AND id <> $2",
      orgId,
      other.id,
    );
    expect((await make(call)).keyId).toBe("key000000001");
  });

  test("is 1,000 of an organization", async () => {
    const orgId = randomUUID();
    await fill(orgId, "k", 999);
    await make(keyOf(orgId));
    await expect(make(keyOf(orgId))).rejects.toEqual(
      expect.objectContaining({ reason: "bad_request", message: expect.stringContaining("1000") }),
    );
    await make(keyOf());
  });
});
