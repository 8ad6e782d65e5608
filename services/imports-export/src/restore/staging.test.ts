import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { RESTORE_LIMITS } from "@tidemark/limits";
import { openGate } from "@tidemark/requests";
import { CallerKind, type Identity } from "@tidemark/proto/common/v1/common";
import { RestoreService } from "@tidemark/proto/imports/v1/restore";
import { createLocalClient, implement } from "@tidemark/rpc";
import { turnsDuring } from "@tidemark/testkit";
import { callOf, newIdentity, startImports, type ImportsFixture } from "../imports.fixture.ts";
import type { ArchiveName } from "./archives.sql.ts";
import { restoreHandlers } from "./restore-archive.ts";

let imports: ImportsFixture;
const begun: ArchiveName[] = [];
beforeAll(async () => {
  imports = await startImports();
});
afterAll(() => imports.close());

const client = () => {
  const handlers = restoreHandlers({
    db: imports.db,
    gate: openGate,
    readers: imports.readers,
    begin: (name) => void begun.push(name),
  });
  return createLocalClient(RestoreService, implement(RestoreService, handlers));
};
const at = "2026-11-23T00:00:00Z";
const BEGIN = `{"type":"export","version":1,"product":"tidemark","exported_at":"${at}","org_id":"${randomUUID()}","selection":{}}\n`;
const PROJECT = `{"type":"project","id":"${randomUUID()}","name":"p","created_at":"${at}"}\n`;
const END = `{"type":"end","counts":{"project":1,"run":0,"points":0,"rank_points":0,"lines":0,"attribute":0,"object":0,"artifact":0,"collection":0,"version":0,"trace":0,"report":0,"view":0}}\n`;

type Wish = { readonly archiveId: string; readonly text: string; readonly number?: number; readonly isLast?: boolean };
const put = (who: Identity, { archiveId, text, number = 0, isLast = false }: Wish) =>
  client().putPiece({ archiveId, number, firstLine: 1 + number, data: Buffer.from(text), isLast }, callOf(who));
const begin = async (who: Identity, key: string = randomUUID()) =>
  (await client().beginArchive({ key }, callOf(who))).archiveId;
const staged = (archiveId: string) =>
  imports.ask<{ number: number; is_part: boolean }>(
    "SELECT number, is_part FROM imports.archive_pieces WHERE archive_id = $1 ORDER BY number",
    archiveId,
  );
const statusOf = async (archiveId: string) =>
  (await imports.ask<{ status: string }>("SELECT status FROM imports.archives WHERE id = $1", archiveId))[0]?.status;

describe("a staged archive", () => {
  test("is complete with its end, in any pieces, and then begins to be restored", async () => {
    const who = newIdentity();
    const archiveId = await begin(who);
    expect(await put(who, { archiveId, text: BEGIN })).toMatchObject({ lines: 1 });
    expect(await put(who, { archiveId, text: BEGIN })).toMatchObject({ lines: 1 });
    await put(who, { archiveId, text: PROJECT, number: 1 });
    expect(await statusOf(archiveId)).toBe("receiving");
    await put(who, { archiveId, text: END, number: 2, isLast: true });
    expect(await statusOf(archiveId)).toBe("restoring");
    expect(begun).toContainEqual({ orgId: who.orgId, id: archiveId });
    expect(await staged(archiveId)).toHaveLength(3);
  });

  test("keeps the longest beginning of what broke off, and takes nothing that differs from it", async () => {
    const who = newIdentity();
    const archiveId = await begin(who);
    const incomplete = { reason: "archive_incomplete" };
    for (const text of [BEGIN + PROJECT.slice(0, 20), BEGIN.slice(0, 30), ""]) {
      await expect(put(who, { archiveId, text, isLast: true })).rejects.toMatchObject(incomplete);
    }
    expect(await staged(archiveId)).toEqual([{ number: 0, is_part: true }]);
    const other = PROJECT.replace("project", "PROJECT");
    const reused = { reason: "idempotency_key_reused" };
    await expect(put(who, { archiveId, text: BEGIN + other, isLast: true })).rejects.toMatchObject(reused);
    await put(who, { archiveId, text: BEGIN + PROJECT + END, isLast: true });
    expect(await staged(archiveId)).toEqual([{ number: 0, is_part: false }]);
    await expect(put(who, { archiveId, text: `${BEGIN}\n`, number: 1 })).rejects.toMatchObject(reused);
  });

  test("leaves nothing when it has a fault, or no end and no key", async () => {
    const who = newIdentity();
    const [faulty, unnamed] = [await begin(who), await begin(who, "")];
    await put(who, { archiveId: faulty, text: BEGIN });
    const fault = { reason: "archive_invalid", position: 2 };
    await expect(put(who, { archiveId: faulty, text: "{\n", number: 1 })).rejects.toMatchObject(fault);
    await expect(put(who, { archiveId: unnamed, text: BEGIN, isLast: true })).rejects.toMatchObject({
      reason: "archive_incomplete",
    });
    for (const archiveId of [faulty, unnamed]) {
      expect([await statusOf(archiveId), await staged(archiveId)]).toEqual([undefined, []]);
    }
  });

  test("leaves nothing when its lines are too short", async () => {
    const who = newIdentity();
    const archiveId = await begin(who);
    await put(who, { archiveId, text: BEGIN });
    await expect(put(who, { archiveId, text: "\n".repeat(100_000), number: 1 })).rejects.toMatchObject({
      reason: "archive_invalid",
      position: 2 + RESTORE_LIMITS.pieceLinesMax,
    });
    expect([await statusOf(archiveId), await staged(archiveId)]).toEqual([undefined, []]);
  });

  test("is read while others have their turns, and read again for its restore", async () => {
    const id = randomUUID();
    const tags = Array.from({ length: 300_000 }, (_, i) => String(i));
    const text = `{"type":"run","id":"${id}","project_id":"${id}","name":"r","status":"running","config":{},"tags":${JSON.stringify(tags)},"metadata":{},"created_at":"${at}","started_at":"${at}","resume_count":0,"lifecycle":[]}\n`;
    const piece = { number: 1, firstLine: 2, data: Buffer.from(text), isLast: false };
    await imports.readers.piece(id, { ...piece, data: Buffer.from(PROJECT) });
    const { result, turns } = await turnsDuring(() => imports.readers.piece(id, piece));
    expect(result).toMatchObject({ lines: 1, isWhole: true, hasEnd: false, isBlank: false });
    expect(turns).toBeGreaterThan(100);
    const rows = await imports.readers.rows(id, result.content, 2);
    expect(rows).toEqual([{ number: 2, line: expect.objectContaining({ line: "run", tags }) }]);
  });

  test("belongs to its caller alone, and takes its pieces in order", async () => {
    const who = newIdentity();
    const archiveId = await begin(who);
    await expect(put(newIdentity(), { archiveId, text: BEGIN })).rejects.toMatchObject({ reason: "not_found" });
    await expect(put(who, { archiveId: randomUUID(), text: BEGIN })).rejects.toMatchObject({ reason: "not_found" });
    await expect(put(who, { archiveId: "x", text: BEGIN })).rejects.toMatchObject({ reason: "bad_request" });
    await expect(put(who, { archiveId, text: BEGIN, number: 1 })).rejects.toMatchObject({ reason: "bad_request" });
    await expect(client().awaitArchive({ archiveId }, callOf(who))).rejects.toMatchObject({ reason: "bad_request" });
    await expect(client().awaitArchive({ archiveId }, callOf(newIdentity()))).rejects.toMatchObject({
      reason: "not_found",
    });
  });

  test("has a key of its organization, and none has the same without one", async () => {
    const [who, other] = [newIdentity(), newIdentity()];
    const ids = [await begin(who, "k"), await begin(who, "k"), await begin(other, "k"), await begin(who, "")];
    expect(ids[0]).toBe(ids[1]);
    expect(new Set(ids).size).toBe(3);
  });

  test("is that of the API key or user, and of the project, that sent it", async () => {
    const key: Identity = { ...newIdentity(), credentialId: "first" };
    const user = (userId: string, credentialId: string): Identity => ({
      ...key,
      kind: CallerKind.SESSION,
      userId,
      credentialId,
    });
    const archiveId = await begin(key, "k");
    await put(key, { archiveId, text: BEGIN + PROJECT + END, isLast: true });
    const others: Identity[] = [
      { ...key, credentialId: "second" },
      { ...key, projectId: randomUUID() },
      user(randomUUID(), "first"),
    ];
    for (const other of others) {
      await expect(begin(other, "k")).rejects.toMatchObject({ reason: "idempotency_key_reused" });
    }
    expect(await begin(key, "k")).toBe(archiveId);
    // A user who has signed in again can continue in any session.
    const userId = randomUUID();
    expect(await begin(user(userId, "a"), "u")).toBe(await begin(user(userId, "b"), "u"));
    await expect(begin(key, "u")).rejects.toMatchObject({ reason: "idempotency_key_reused" });
  });

  test("is checked once when several processes take the same piece simultaneously", async () => {
    const who = newIdentity();
    const archiveId = await begin(who);
    const text = BEGIN + PROJECT + END;
    const answers = await Promise.all(Array.from({ length: 4 }, () => put(who, { archiveId, text, isLast: true })));
    expect(answers.map(({ lines }) => lines)).toEqual([3, 3, 3, 3]);
    expect(await staged(archiveId)).toHaveLength(1);
    const [row] = await imports.ask<{ pieces: number }>("SELECT pieces FROM imports.archives WHERE id = $1", archiveId);
    expect(row).toEqual({ pieces: 1 });
  });
});
