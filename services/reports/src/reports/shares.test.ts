import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { callOf, nobody, startReports, type ReportsFixture } from "../reports.fixture.ts";

let fixture: ReportsFixture;
beforeAll(async () => {
  fixture = await startReports();
});
afterAll(() => fixture.close());

const reason = (wanted: string) => expect.objectContaining({ reason: wanted });

async function sharedReport(visibility = "private") {
  const orgId = randomUUID();
  const call = callOf(orgId);
  await fixture.addKey(orgId);
  const reportId = (await fixture.client.createReport({ title: "t", visibility }, call)).report!.id;
  const share = async () => (await fixture.client.shareReport({ reportId }, call)).report!.shareToken!;
  return { orgId, call, reportId, share, token: await share() };
}

describe("a share token", () => {
  test("opens its report for every caller, by itself and with the id, and hides the owner", async () => {
    const { reportId, token, orgId } = await sharedReport();
    expect(token).toMatch(/^tm_share_/);
    for (const call of [nobody(), callOf(randomUUID())]) {
      for (const asked of [
        fixture.client.getSharedReport({ shareToken: token }, call),
        fixture.client.getReport({ reportId, shareToken: token }, call),
      ]) {
        const { report } = await asked;
        expect([report?.id, report?.title]).toEqual([reportId, "t"]);
        expect([report?.orgId, report?.authorUserId, report?.shareToken]).toEqual(["", undefined, undefined]);
        expect(JSON.stringify(report, (_, value: unknown) => (typeof value === "bigint" ? "" : value))).not.toContain(
          orgId,
        );
      }
    }
  });

  test("is shown once, and only its hash is stored", async () => {
    const { reportId, call, token } = await sharedReport();
    const { report } = await fixture.client.getReport({ reportId }, call);
    expect([report?.shareToken, report?.shareTokenIssuedAt]).toEqual([undefined, expect.any(String)]);
    const [row] = await fixture.ask<object>("SELECT * FROM reports.reports WHERE id = $1", reportId);
    expect(JSON.stringify(row)).not.toContain(token);
    expect(JSON.stringify(row)).not.toContain(token.split("_")[3]);
    expect(
      Object.values(row!).filter((value) => Buffer.isBuffer(value) && value.includes(token.split("_")[3]!)),
    ).toEqual([]);
  });

  test.each([
    ["was revoked", "revoked_at = now()", "unauthenticated"],
    ["has expired", "expires_at = now()", "unauthenticated"],
    ["lost a scope", "scopes = '{export:read}'", "forbidden"],
    ["is bound to a project now", "project_id = gen_random_uuid()", "forbidden"],
  ])("is not created for a key that %s after the gateway let it in", async (_, change, wanted) => {
    const { orgId, share, token } = await sharedReport();
    await fixture.ask(`UPDATE control.api_keys SET ${change} WHERE org_id = $1`, orgId);
    await expect(share()).rejects.toEqual(reason(wanted));
    expect((await fixture.client.getSharedReport({ shareToken: token }, nobody())).report?.title).toBe("t");
  });

  test("ends when it is replaced", async () => {
    const { reportId, share, token } = await sharedReport();
    const next = await share();
    await expect(fixture.client.getSharedReport({ shareToken: token }, nobody())).rejects.toEqual(reason("not_found"));
    const old = fixture.client.getReport({ reportId, shareToken: token }, nobody());
    await expect(old).rejects.toEqual(reason("unauthenticated"));
    expect((await fixture.client.getSharedReport({ shareToken: next }, nobody())).report?.id).toBe(reportId);
  });

  test("ends after the time that is set, and with 0 never", async () => {
    const { reportId, call, token } = await sharedReport();
    const at = (seconds: number) => () => new Date(Date.now() + seconds * 1000);
    const ask = (changes: Parameters<ReportsFixture["newProcess"]>[0]) =>
      fixture.newProcess(changes).getSharedReport({ shareToken: token }, nobody());
    expect((await ask({ now: at(3500) })).report?.id).toBe(reportId);
    await expect(ask({ now: at(3600) })).rejects.toEqual(reason("not_found"));
    expect((await ask({ now: at(1e9), shareTtlSeconds: 0 })).report?.id).toBe(reportId);
    const has = async (shareTtlSeconds: number) =>
      (await fixture.newProcess({ shareTtlSeconds }).listReports({}, call)).reports[0]?.hasShareToken;
    expect(await has(3600)).toBe(true);
    await fixture.ask("UPDATE reports.reports SET share_issued_at = now() - interval '1 hour' WHERE id = $1", reportId);
    expect([await has(3600), await has(3700), await has(0)]).toEqual([false, true, true]);
  });

  test("of one report does not open another one, of its own organization or of a foreign one", async () => {
    const [one, other] = [await sharedReport(), await sharedReport()];
    const own = (await fixture.client.createReport({ title: "own" }, one.call)).report!.id;
    for (const reportId of [other.reportId, own]) {
      const asked = fixture.client.getReport({ reportId, shareToken: one.token }, nobody());
      await expect(asked).rejects.toEqual(reason("unauthenticated"));
    }
    const asked = fixture.client.getReport({ reportId: other.reportId, shareToken: one.token }, one.call);
    await expect(asked).rejects.toEqual(reason("not_found"));
  });

  test("with another secret than the stored one opens nothing", async () => {
    const { reportId, share } = await sharedReport();
    const [kept, other] = [await share(), (await sharedReport()).token];
    await fixture.ask(
      "UPDATE reports.reports SET share_hash = decode(repeat('00', 32), 'hex') WHERE id = $1",
      reportId,
    );
    for (const shareToken of [kept, kept.replace(/_[^_]+_[^_]+$/, other.slice(-40)), `${kept}x`, "", "tm_share_x"]) {
      const asked = fixture.client.getSharedReport({ shareToken }, nobody());
      await expect(asked).rejects.toEqual(reason("not_found"));
    }
  });

  test("is each time another one, also for those who share simultaneously, and one of them stays", async () => {
    const { share } = await sharedReport();
    const tokens = await Promise.all(Array.from({ length: 6 }, share));
    const opened = await Promise.allSettled(
      tokens.map((shareToken) => fixture.client.getSharedReport({ shareToken }, nobody())),
    );
    expect(new Set(tokens).size).toBe(6);
    expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});

describe("a public report", () => {
  test("is readable by every caller, and in full by its organization", async () => {
    const { reportId, orgId, call, token } = await sharedReport("public");
    for (const stranger of [nobody(), callOf(randomUUID())]) {
      const { report } = await fixture.client.getReport({ reportId }, stranger);
      expect([report?.id, report?.orgId]).toEqual([reportId, ""]);
    }
    const { report } = await fixture.client.getReport({ reportId, shareToken: token }, call);
    expect(report?.orgId).toBe(orgId);
    await fixture.client.updateReport({ reportId, visibility: "org" }, call);
    await expect(fixture.client.getReport({ reportId }, nobody())).rejects.toEqual(reason("unauthenticated"));
    await expect(fixture.client.getReport({ reportId }, callOf(randomUUID()))).rejects.toEqual(reason("not_found"));
  });

  test("is read as a stranger by a caller of another project of its organization", async () => {
    const { reportId, orgId } = await sharedReport("public");
    const { report } = await fixture.client.getReport({ reportId }, callOf(orgId, { projectId: randomUUID() }));
    expect([report?.id, report?.orgId]).toEqual([reportId, ""]);
  });
});

test("a missing report looks like a private one to a caller without credentials", async () => {
  const { reportId } = await sharedReport();
  for (const id of [reportId, randomUUID(), "no id"]) {
    const error = await fixture.client.getReport({ reportId: id }, nobody()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: "unauthenticated", message: "missing bearer token" });
  }
});
