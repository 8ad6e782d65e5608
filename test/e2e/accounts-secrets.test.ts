import { expect, test } from "@jest/globals";
import { describeOwnModes } from "../stack/modes.ts";
import { createTeam, inviteTokenIn, newEmail } from "../stack/people.ts";
import { queryDatabase } from "../stack/attach.ts";
import type { Stack } from "../stack/stack.ts";

/** Every row of every table, as text; bytes are hexadecimal. */
async function everythingStored(stack: Stack): Promise<string> {
  const tables = await queryDatabase<{ name: string }>(
    stack,
    `SELECT format('%I.%I', n.nspname, c.relname) AS name
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'm', 'S') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`,
  );
  const all: string[] = [];
  for (const { name } of tables) {
    const rows = await queryDatabase<{ row: string }>(stack, `SELECT t::text AS row FROM ${name} t`);
    all.push(...rows.map(({ row }) => `${name} ${row}`));
  }
  return all.join("\n");
}

/** A text and every form in which it could lie in a database. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  return [text, bytes.toString("hex"), bytes.toString("base64").replace(/=+$/, ""), encodeURIComponent(text)];
}

describeOwnModes("secrets", (stack) => {
  test("of every credential only a hash is stored, and no process prints one", async () => {
    const team = await createTeam(stack());
    const { browser, email } = team.owner;
    const sessionToken = browser.token()!;
    const made = (await browser.post(`/api/orgs/${team.orgId}/api-keys`, { name: "ci" })).json;
    const apiKey: string = made.api_key;
    const inviteToken = inviteTokenIn(
      await browser.post(`/api/orgs/${team.orgId}/invitations`, { email: newEmail(), role: "member" }),
    );
    const device = (await stack().api.post("/api/auth/device-code/start", {})).json;
    const waiting = (await stack().api.post("/api/auth/device-code/start", {})).json;
    await browser.post("/api/auth/device-code/confirm", { user_code: device.user_code });
    const login = (await stack().api.post("/api/auth/device-code/poll", { device_code: device.device_code })).json;
    const deviceKey: string = login.api_key.plaintext;
    // Each is presented once where it is right and once where it is refused.
    await stack().api.as(apiKey).post("/runs", {});
    await stack().api.as(deviceKey).get("/runs");
    await stack().api.as(inviteToken).get("/runs");
    await stack().api.as(sessionToken).get("/runs");
    await stack().api.post("/api/auth/device-code/poll", { device_code: waiting.device_code });

    const stored = await everythingStored(stack());
    for (const there of [team.orgId, email, made.key.id, made.key.key_prefix, "CLI device login"]) {
      expect(stored).toContain(there);
    }
    const printed = [...new Set(stack().children.values())].map((child) => child.output()).join("\n");
    const secretPart = (text: string): string => text.split("_").at(-2)!;
    const tokens = [apiKey, deviceKey, sessionToken, inviteToken];
    const secrets = [
      ...tokens,
      ...tokens.map(secretPart),
      device.device_code as string,
      waiting.device_code as string,
      waiting.user_code as string,
      (waiting.user_code as string).replace("-", ""),
      stack().bootstrapToken,
    ];
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThanOrEqual(8);
      for (const form of formsOf(secret)) {
        expect(stored.includes(form)).toBe(false);
        expect(printed.includes(form)).toBe(false);
      }
    }
  });
});
