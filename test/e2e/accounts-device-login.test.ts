import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { describeModes } from "../stack/modes.ts";
import { createTeam, type Person } from "../stack/people.ts";
import { queryDatabase } from "../stack/attach.ts";

type DeviceCode = { device_code: string; user_code: string };

describeModes("login of a device", (stack) => {
  const start = async (): Promise<DeviceCode> => {
    const body = { client_info: { name: "instantml-cli", version: "0.1.1" } };
    return (await stack().api.post("/api/auth/device-code/start", body)).json;
  };
  const poll = (code: string) => stack().api.post("/api/auth/device-code/poll", { device_code: code });
  const confirm = ({ browser }: Person, code: unknown) =>
    browser.post("/api/auth/device-code/confirm", { user_code: code });
  /** Sets a moment of every device login back, as if time had passed. */
  const setBack = (column: "expires_at" | "last_polled_at", by: string) =>
    queryDatabase(stack(), `UPDATE control.device_logins SET ${column} = ${column} - $1::interval`, [by]);

  test("a start gives two codes, where to type one, and the rhythm to poll with the other", async () => {
    const answer = await stack().api.post("/api/auth/device-code/start", {
      client_info: { name: "cli", version: "1" },
    });
    expect(answer.status).toBe(200);
    const { json } = answer;
    expect(json).toEqual({
      device_code: expect.any(String),
      user_code: expect.stringMatching(/^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/),
      verification_uri: expect.stringMatching(/^https?:\/\/.+\/auth\/device$/),
      verification_uri_complete: `${json.verification_uri}?code=${json.user_code}`,
      expires_in: 900,
      interval: 5,
    });
    expect(json.device_code.length).toBeGreaterThanOrEqual(43);
    expect(json.device_code).not.toContain(json.user_code);
    const next = await start();
    expect(next.device_code).not.toBe(json.device_code);
    expect(next.user_code).not.toBe(json.user_code);
  });

  test("a start needs to say nothing of the client, as long as what it says has the right form", async () => {
    expect((await stack().api.post("/api/auth/device-code/start", {})).status).toBe(200);
    expect((await stack().api.post("/api/auth/device-code/start", { client_info: null })).status).toBe(200);
    expect((await stack().api.post("/api/auth/device-code/start", { client_info: 7 })).status).toBe(400);
  });

  test("it is pending until a user confirms it; asked again immediately it is pending or slow_down", async () => {
    const { device_code: code } = await start();
    expect(await poll(code)).toMatchObject({ status: 200, json: { status: "pending" } });
    const hasty = await poll(code);
    if (hasty.status === 429) expect(hasty.json).toMatchObject({ code: "slow_down", error: expect.any(String) });
    else expect(hasty).toMatchObject({ status: 200, json: { status: "pending" } });
  });

  test("a rhythm of five seconds, or slightly less, is never told to slow down", async () => {
    const { device_code: code } = await start();
    for (let round = 0; round < 5; round += 1) {
      expect(await poll(code)).toMatchObject({ status: 200, json: { status: "pending" } });
      await setBack("last_polled_at", "4.8 seconds");
    }
  });

  test.each([
    ["unknown", randomUUID(), 404],
    ["of another kind", "tm_000000000000_00000000000000000000000000000000_000000", 404],
    ["no text", 7, 400],
    ["missing", undefined, 400],
  ])("a poll with a code that is %s is refused", async (_what, code, status) => {
    const answer = await stack().api.post("/api/auth/device-code/poll", { device_code: code });
    expect(answer).toMatchObject({ status, json: { error: expect.any(String) } });
  });

  test("a confirmed login hands its key out once, and the key works", async () => {
    const team = await createTeam(stack());
    const { device_code: code, user_code: userCode } = await start();
    const confirmed = await confirm(team.owner, userCode.toLowerCase());
    expect([confirmed.status, confirmed.json]).toEqual([200, { confirmed: true }]);
    const authorized = await poll(code);
    expect(authorized.status).toBe(200);
    expect(authorized.json).toEqual({
      status: "authorized",
      api_key: { plaintext: expect.stringMatching(/^tm_\w+$/), prefix: expect.any(String), id: expect.any(String) },
      org: { id: team.orgId, name: team.name, slug: team.name },
      user: { primary_email: team.owner.email, display_name: null },
    });
    const { plaintext, prefix, id } = authorized.json.api_key;
    expect(prefix).toBe(plaintext.slice(0, 14));

    const api = stack().api.as(plaintext);
    expect(await api.post("/runs", {})).toMatchObject({ status: 200, json: { run: { org_id: team.orgId } } });
    expect((await api.get("/runs")).json.runs).toHaveLength(1);
    const { api_keys: keys } = (await team.owner.browser.get(`/api/orgs/${team.orgId}/api-keys`)).json;
    expect(keys).toMatchObject([{ id, name: "CLI device login", project_id: null }]);
    expect(new Set(keys[0].scopes)).toEqual(new Set(["artifacts:write", "export:read", "imports:write", "sdk:ingest"]));

    await setBack("last_polled_at", "5 seconds");
    const spent = await poll(code);
    expect([spent.status, spent.json]).toEqual([200, { status: "expired" }]);
    expect((await team.owner.browser.get(`/api/orgs/${team.orgId}/api-keys`)).json.api_keys).toHaveLength(1);
  });

  test("twenty simultaneous polls get one key between them", async () => {
    const team = await createTeam(stack());
    const { device_code: code, user_code: userCode } = await start();
    await confirm(team.owner, userCode);
    const answers = await Promise.all(Array.from({ length: 20 }, () => poll(code)));
    expect(answers.filter(({ json }) => json.status === "authorized")).toHaveLength(1);
    expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
    expect((await team.owner.browser.get(`/api/orgs/${team.orgId}/api-keys`)).json.api_keys).toHaveLength(1);
  });

  test("a code that was used is 409, one that is unknown or over 404, none 400", async () => {
    const { owner } = await createTeam(stack());
    const used = await start();
    expect((await confirm(owner, used.user_code)).status).toBe(200);
    expect(await confirm(owner, used.user_code)).toMatchObject({ status: 409, json: { error: expect.any(String) } });
    await poll(used.device_code);
    expect((await confirm(owner, used.user_code)).status).toBe(409);
    expect((await confirm(owner, "ZZZZ-ZZZZ")).status).toBe(404);
    expect((await confirm(owner, "nonsense")).status).toBe(404);
    for (const none of [undefined, 7]) expect((await confirm(owner, none)).status).toBe(400);

    const late = await start();
    await setBack("expires_at", "901 seconds");
    expect((await confirm(owner, late.user_code)).status).toBe(404);
    expect(await poll(late.device_code)).toMatchObject({ status: 200, json: { status: "expired" } });
  });

  test.each(["member", "viewer"] as const)("a %s cannot let a device in, an admin can", async (role) => {
    const team = await createTeam(stack());
    const { device_code: code, user_code: userCode } = await start();
    expect((await confirm(await team.join(role), userCode)).status).toBe(403);
    expect(await poll(code)).toMatchObject({ json: { status: "pending" } });
    expect((await confirm(await team.join("admin"), userCode)).status).toBe(200);
  });

  test("only a page of ours confirms", async () => {
    const { owner } = await createTeam(stack());
    const { user_code: userCode } = await start();
    const body = { user_code: userCode };
    const foreign = { headers: { origin: "https://evil.test" } };
    expect((await owner.browser.post("/api/auth/device-code/confirm", body, foreign)).status).toBe(403);
    const { api } = await stack().organization({ scopes: ["sdk:ingest", "export:read", "api_keys:write"] });
    expect((await api.post("/api/auth/device-code/confirm", body)).status).toBe(401);
    expect((await stack().api.post("/api/auth/device-code/confirm", body)).status).toBe(401);
    expect((await confirm(owner, userCode)).status).toBe(200);
  });
});
