import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { limitedGate } from "@tidemark/testkit";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import { removeRowsOfOrganization } from "../removal/removed-rows.sql.ts";
import { callOf, json, startReports, type ReportsFixture } from "../reports.fixture.ts";

let reports: ReportsFixture;
let orgId: string;
let call: Call;
beforeAll(async () => {
  reports = await startReports();
});
afterAll(() => reports.close());
beforeEach(() => {
  orgId = randomUUID();
  call = callOf(orgId);
});

const stored = async (): Promise<number> => {
  const [row] = await reports.ask<{ bytes: number }>(
    "SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM platform.stored_bytes WHERE org_id = $1 AND kind = 'reports'",
    orgId,
  );
  return row!.bytes;
};
const utf8 = (...texts: readonly string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
const blocksOf = (text: string) => [{ kind: "markdown", text }];
const create = (text: string, client = reports.client) =>
  client.createReport({ title: "Größe", description: "naïve", blocksJson: json(blocksOf(text)) }, call);
const bytesOf = (text: string): number => utf8("Größe", "naïve", JSON.stringify(blocksOf(text)));
const exceeded = { reason: "plan_limit_exceeded" };

test("reports count the UTF-8 bytes of their texts and blocks, changes by the difference, deleted ones not at all", async () => {
  const { report } = await create("漢字 🚀");
  expect(await stored()).toBe(bytesOf("漢字 🚀"));
  await Promise.all(Array.from({ length: 20 }, () => create("x")));
  expect(await stored()).toBe(bytesOf("漢字 🚀") + 20 * bytesOf("x"));
  const reportId = report!.id;
  await reports.client.updateReport({ reportId, blocksJson: json(blocksOf("y".repeat(5000))) }, call);
  expect(await stored()).toBe(bytesOf("y".repeat(5000)) + 20 * bytesOf("x"));
  await reports.client.updateReport({ reportId, visibility: "org" }, call);
  await reports.client.deleteReport({ reportId }, call);
  expect(await stored()).toBe(20 * bytesOf("x"));
  await removeRowsOfOrganization(reports.db, orgId);
  expect(await stored()).toBe(0);
});

test("views count as well, until they are deleted", async () => {
  const session = callOf(orgId, { kind: CallerKind.SESSION, userId: randomUUID() });
  const payloadJson = json({ version: 1, panels: [], notes: "é" });
  const { view } = await reports.client.createView({ name: "Ansicht ü", payloadJson, visibility: "" }, session);
  const payload = Buffer.from(view!.payloadJson).length;
  expect(await stored()).toBe(utf8("Ansicht ü") + payload);
  await reports.client.updateView({ viewId: view!.id, name: "v" }, session);
  expect(await stored()).toBe(1 + payload);
  const { view: known } = await reports.client.getView({ viewId: view!.id }, session);
  await reports.client.deleteView({ viewId: view!.id, expectedUpdatedAt: known!.updatedAt }, session);
  expect(await stored()).toBe(0);
});

test("a report that does not fit is refused and leaves nothing; a change that adds no bytes is admitted at the limit", async () => {
  const client = reports.newProcess({ storageGate: limitedGate(bytesOf("12345") + 1) });
  const { report } = await create("12345", client);
  await expect(create("1", client)).rejects.toMatchObject(exceeded);
  expect(await stored()).toBe(bytesOf("12345"));
  const update = (text: string) =>
    client.updateReport({ reportId: report!.id, blocksJson: json(blocksOf(text)) }, call);
  await update("54321");
  await update("123456");
  await expect(update("1234567")).rejects.toMatchObject(exceeded);
  expect(await stored()).toBe(bytesOf("123456"));
});
