import { describe, expect, test } from "@jest/globals";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { facingTheWorld } from "../stack/settings.ts";
import { queryDatabase } from "../stack/attach.ts";

const SESSIONS = "/api/embed/sessions";
const ORIGIN = "https://portal.test";

type Made = { readonly id: string; readonly token: string };

/** An address that no other test uses. */
const newAddress = (() => {
  let last = 0;
  return () => ({ headers: { "x-forwarded-for": `192.0.2.${(last += 1)}` } });
})();

/** How many of these answers had which status, in the order of their first ones. */
const counted = (answers: readonly Answer[]): [number, number][] => {
  const counts = new Map<number, number>();
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts];
};

const expectRefusal = (answer: Answer | undefined): void => {
  expect([answer?.status, answer?.json.code]).toEqual([429, "rate_limit_exceeded"]);
  expect(Number(answer!.headers["retry-after"])).toBeGreaterThanOrEqual(1);
};

describeModes(
  "the limits of embed sessions, which TIDEMARK_LIMITS=off leaves on,",
  (stack) => {
    const newRun = async (api: Api): Promise<string> => (await api.post("/runs", { project: "p" })).json.run.id;
    const ask = (api: Api, runId: string): Promise<Answer> =>
      api.post(SESSIONS, { run_ids: [runId], allowed_parent_origin: ORIGIN });
    const make = async (api: Api, runId: string): Promise<Made> => {
      const { status, json } = await ask(api, runId);
      expect(status).toBe(200);
      return { id: json.embed_session.id, token: json.embed_token };
    };
    const newSession = async (): Promise<Made> => {
      const { api } = await stack().organization();
      return make(api, await newRun(api));
    };
    type From = ReturnType<typeof newAddress>;
    const current = ({ id, token }: Made, from: From): Promise<Answer> =>
      stack().api.as(token).get(`${SESSIONS}/${id}/current`, from);
    const data = ({ id, token }: Made, from: From): Promise<Answer> =>
      stack().api.as(token).post(`${SESSIONS}/${id}/runs/data`, {}, from);
    const policy = ({ id }: Made, from: From): Promise<Answer> =>
      stack().api.get(`${SESSIONS}/${id}/frame-policy`, from);
    /** All are sent before the first is answered, so that few tokens are refilled meanwhile. */
    const many = (count: number, send: () => Promise<Answer>): Promise<Answer[]> =>
      Promise.all(Array.from({ length: count }, send));

    describe.each<[string, typeof current, number]>([
      ["current", current, 10],
      ["runs/data", data, 3],
    ])("%s", (_, send, burst) => {
      test("is bounded for a session, from wherever it is read, and for no other session", async () => {
        const made = await newSession();
        const answers = await many(3 * burst, () => send(made, newAddress()));
        const served = answers.filter(({ status }) => status === 200);
        expect(served.length).toBeGreaterThanOrEqual(burst);
        expectRefusal(answers.find(({ status }) => status !== 200));
        expect((await send(await newSession(), newAddress())).status).toBe(200);
      });
    });

    test("frame policies are bounded for an address, and for no other address", async () => {
      const made = await newSession();
      const from = newAddress();
      const answers = await many(30, () => policy(made, from));
      expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(10);
      expectRefusal(answers.find(({ status }) => status !== 200));
      expect((await policy(made, newAddress())).status).toBe(200);
    });

    test("bad tokens are bounded for an address, which then waits with good ones too", async () => {
      const made = await newSession();
      const from = newAddress();
      const answers = await many(80, () => current({ ...made, token: "x" }, from));
      expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(20);
      expectRefusal(answers.find(({ status }) => status !== 401));
      expect((await current(made, newAddress())).status).toBe(200);
    });

    test("good tokens are not: readers behind one address do not shut each other out", async () => {
      const { api } = await stack().organization();
      const runId = await newRun(api);
      const sessions = await Promise.all(Array.from({ length: 8 }, () => make(api, runId)));
      const from = newAddress();
      for (let i = 0; i < 5; i += 1) {
        const answers = await Promise.all(sessions.map((made) => current(made, from)));
        expect(counted(answers)).toEqual([[200, 8]]);
      }
    });

    /** Copies the sessions of an organization until there are `count`, of keys with these ids. */
    const copy = (orgId: string, count: number, keyId: string): Promise<unknown[]> =>
      queryDatabase(
        stack(),
        `INSERT INTO reports.embed_sessions
           (org_id, id, key_id, project_id, scopes, token_hash, allowed_parent_origin, run_ids, theme, panels_max, points_max, expires_at)
         SELECT s.org_id, gen_random_uuid(), ${keyId}, s.project_id, s.scopes, s.token_hash, s.allowed_parent_origin, s.run_ids,
                s.theme, s.panels_max, s.points_max, s.expires_at
         FROM reports.embed_sessions s, generate_series(2, $2::integer) AS i WHERE s.org_id = $1`,
        [orgId, count],
      );

    test.each([
      ["of a key", 100, "s.key_id"],
      ["of an organization", 1000, "'key' || i"],
    ])("the live sessions %s are at most %i", async (_, count, keyId) => {
      const { api, orgId } = await stack().organization();
      const runId = await newRun(api);
      await make(api, runId);
      await copy(orgId, count - 1, keyId);
      await make(api, runId);
      const refused = await ask(api, runId);
      expect([refused.status, refused.json.error]).toEqual([400, expect.stringContaining(`at most ${count} live`)]);
      const other = await stack().organization();
      await make(other.api, await newRun(other.api));
    });

    test("bodies have at most 64 KiB", async () => {
      const { api } = await stack().organization();
      const made = await make(api, await newRun(api));
      const body = { refresh_reason: "x".repeat(64 * 1024) };
      const asked = stack().api.as(made.token).post(`${SESSIONS}/${made.id}/runs/data`, body, newAddress());
      expect((await asked).status).toBe(413);
      expect((await api.post(SESSIONS, body)).status).toBe(413);
    });
  },
  facingTheWorld,
);
