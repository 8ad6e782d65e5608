import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueCredential } from "@tidemark/credentials";
import {
  bill,
  expectRefusal,
  newKey,
  newMember,
  newOrganization,
  refusal,
  startControl,
  type Control,
} from "../control.fixture.ts";
import { updateMembership } from "../organizations/memberships.sql.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
});
afterAll(() => control.close());

const start = () =>
  control.client.startDeviceLogin(
    { clientName: "cli", clientVersion: "1.0", baseUrl: "http://127.0.0.1:8080" },
    control.anyone,
  );
const poll = (deviceCode: string) => control.client.pollDeviceLogin({ deviceCode }, control.anyone);

describe("the start of a device login", () => {
  test("gives a code for the device, one for the person, and the page to enter it on", async () => {
    const login = await start();
    expect(login).toMatchObject({
      userCode: expect.stringMatching(/^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/),
      deviceCode: expect.stringMatching(/^tm_device_/),
      expiresInSeconds: 900,
      intervalSeconds: 5,
      verificationUri: "http://127.0.0.1:8080/auth/device",
    });
  });

  test("points to the web address where one is configured", async () => {
    const elsewhere = await startControl({ webUrl: "https://app.example.org/" });
    try {
      const login = await elsewhere.client.startDeviceLogin({ baseUrl: "http://127.0.0.1" }, elsewhere.anyone);
      expect(login.verificationUri).toBe("https://app.example.org/auth/device");
    } finally {
      await elsewhere.close();
    }
  });
});

describe("a device that polls", () => {
  test("waits, then gets its key once, then does not get anything more", async () => {
    const orgId = await newOrganization(control);
    const { call, email, userId } = await newMember(control, orgId, "admin");
    const { deviceCode, userCode } = await start();
    expect(await poll(deviceCode)).toMatchObject({ status: "pending" });
    await control.client.confirmDeviceLogin({ userCode: userCode.toLowerCase().replace("-", " ") }, call);
    control.pass({ seconds: 5 });
    const answer = await poll(deviceCode);
    expect(answer).toMatchObject({
      status: "authorized",
      created: {
        key: {
          orgId,
          name: "CLI device login",
          scopes: ["sdk:ingest", "artifacts:write", "imports:write", "export:read"],
          keyPrefix: answer.created!.plaintext.slice(0, 14),
        },
        serviceAccount: { createdByUserId: userId },
      },
      organization: { id: orgId },
      user: { primaryEmail: email },
    });
    expect((await control.as(answer.created!.plaintext)).identity).toMatchObject({ orgId });
    control.pass({ seconds: 5 });
    const later = await poll(deviceCode);
    expect(later.status).toBe("expired");
    expect(later.created).toBeUndefined();
  });

  test("gets one key when it asks several times simultaneously", async () => {
    const orgId = await newOrganization(control);
    const { call } = await newMember(control, orgId, "owner");
    const { deviceCode, userCode } = await start();
    await control.client.confirmDeviceLogin({ userCode }, call);
    const answers = await Promise.all(Array.from({ length: 5 }, () => poll(deviceCode)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual(["authorized", ...Array<string>(4).fill("expired")]);
    expect((await control.client.listApiKeys({ orgId }, control.operator)).keys).toHaveLength(1);
  });

  test("is slowed down far below its interval, and may continue when it has waited", async () => {
    const { deviceCode } = await start();
    await poll(deviceCode);
    expect(await refusal(poll(deviceCode))).toMatchObject({ reason: "slow_down", retryAfterSeconds: 5 });
    control.pass({ seconds: 5 });
    expect((await poll(deviceCode)).status).toBe("pending");
  });

  test.each([
    ["some text", () => "abc"],
    ["a code that was never issued", () => issueCredential("device", randomBytes).text],
    ["a credential of another kind", () => issueCredential("api_key", randomBytes).text],
  ])("with %s is not found", async (_, code) => {
    await expectRefusal(poll(code()), "not_found");
  });

  test("is denied when the person who approved may not do so anymore", async () => {
    const orgId = await newOrganization(control);
    const { call, userId } = await newMember(control, orgId, "admin");
    const { deviceCode, userCode } = await start();
    await control.client.confirmDeviceLogin({ userCode }, call);
    await control.db.withTenant(orgId, (tx) =>
      updateMembership(tx, { orgId, userId, role: "member", status: "active" }),
    );
    expect((await poll(deviceCode)).status).toBe("denied");
    expect((await control.client.listApiKeys({ orgId }, control.operator)).keys).toEqual([]);
  });
});

describe("the approval of a device login", () => {
  test("is not for a session that ended after the gateway had looked", async () => {
    const orgId = await newOrganization(control);
    const { call, token } = await newMember(control, orgId, "admin");
    const { userCode, deviceCode } = await start();
    await control.client.signOut({ token }, control.anyone);
    await expectRefusal(control.client.confirmDeviceLogin({ userCode }, call), "unauthenticated");
    expect(await poll(deviceCode)).toMatchObject({ status: "pending" });
  });

  test("is for owners and admins", async () => {
    const orgId = await newOrganization(control);
    for (const role of ["member", "viewer"] as const) {
      const { userCode } = await start();
      const { call } = await newMember(control, orgId, role);
      await expectRefusal(control.client.confirmDeviceLogin({ userCode }, call), "forbidden");
    }
  });

  test("needs a session", async () => {
    const { userCode } = await start();
    const key = await control.as(await newKey(control, await newOrganization(control), ["api_keys:write"]));
    for (const call of [control.anyone, control.operator, key]) {
      await expectRefusal(control.client.confirmDeviceLogin({ userCode }, call), "unauthenticated");
    }
  });

  test("waits for payment where keys do, and the code stays good", async () => {
    const orgId = await newOrganization(control);
    const { call } = await newMember(control, orgId, "owner");
    const { userCode } = await start();
    await bill(control, orgId, "canceled");
    await expectRefusal(control.client.confirmDeviceLogin({ userCode }, call), "payment_required");
    await bill(control, orgId, "paid_active");
    await control.client.confirmDeviceLogin({ userCode }, call);
  });
});
