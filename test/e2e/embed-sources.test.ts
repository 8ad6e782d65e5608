import { beforeAll, expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { describeModes } from "../stack/modes.ts";
import { facingTheWorld } from "../stack/settings.ts";
import { asOperator } from "../stack/people.ts";
import { queryDatabase } from "../stack/attach.ts";

const SESSIONS = "/api/embed/sessions";

/** The longest time that a process may hold a revoked credential. */
const WITHIN_MS = 10_000;

/** A key as the answer to its making names it. */
type Key = { id: string; orgId: string; accountId: string };

describeModes(
  "the key behind an embed session",
  (stack) => {
    const revoke = ({ id, orgId }: Key) => operate(`/api/orgs/${orgId}/api-keys/${id}/revoke`);
    const disable = ({ accountId, orgId }: Key) => operate(`/api/orgs/${orgId}/service-accounts/${accountId}/disable`);
    const operate = async (path: string): Promise<void> => {
      expect((await stack().api.post(path, {}, asOperator(stack()))).status).toBe(200);
    };
    /** No route changes a key; what reads keys must not rely on that. */
    const change =
      (assignment: string) =>
      async ({ id }: Key): Promise<void> => {
        const rows = await queryDatabase(
          stack(),
          `UPDATE control.api_keys SET ${assignment}, changed_xid = pg_current_xact_id() WHERE id = $1 RETURNING id`,
          [id],
        );
        expect(rows).toHaveLength(1);
      };

    let visitors = 0;
    const open = async (more: object = {}) => {
      // Each comes from an address of its own, because strangers of one share a limit.
      visitors += 1;
      const from = { headers: { "x-forwarded-for": `192.0.2.${visitors}` } };
      const { orgId, api } = await stack().organization();
      const { run } = (await api.post("/runs", { project: "p" })).json;
      const made = await stack().api.post(
        `/api/orgs/${orgId}/api-keys`,
        { scopes: ["export:read", "sdk:ingest"], project_id: run.project_id, ...more },
        asOperator(stack()),
      );
      expect(made.status).toBe(200);
      const { json } = await stack()
        .api.as(made.json.api_key)
        .post(SESSIONS, { run_ids: [run.id], allowed_parent_origin: "https://portal.test" });
      const path = `${SESSIONS}/${json.embed_session.id}`;
      const reader = stack().api.as(json.embed_token);
      const statuses = async (): Promise<unknown[]> => [
        (await reader.get(`${path}/current`, from)).status,
        (await reader.post(`${path}/runs/data`, {}, from)).status,
        (await stack().api.get(`${path}/frame-policy`, from)).json.frame_policy.status,
      ];
      expect(await statuses()).toEqual([200, 200, "active"]);
      const refused = (): Promise<boolean> => reader.get(`${path}/current`, from).then(({ status }) => status === 403);
      return { key: { id: made.json.key.id, orgId, accountId: made.json.service_account.id }, statuses, refused };
    };

    const changes: readonly [string, (key: Key) => Promise<void>][] = [
      ["is revoked", revoke],
      ["is that of a disabled account", disable],
      ["loses export:read", change("scopes = '{sdk:ingest}'")],
      ["loses another scope", change("scopes = '{export:read}'")],
      ["gets another scope", change("scopes = scopes || '{runs:control}'")],
      ["is bound to another project", change("project_id = gen_random_uuid()")],
      ["is not bound to its project any more", change("project_id = NULL")],
    ];
    const EXPIRES = "expires";

    /** Ends the rights of a key in one way, and returns what its sessions answer then. @throws when they are answered for too long */
    const refusal = async (act: ((key: Key) => Promise<void>) | undefined): Promise<unknown[]> => {
      const expiresAt = act === undefined ? Date.now() + 5000 : 0;
      const { key, statuses, refused } = await open(
        act === undefined ? { expires_at: new Date(expiresAt).toISOString() } : {},
      );
      await act?.(key);
      await until("the session is refused", refused, Math.max(0, expiresAt - Date.now()) + WITHIN_MS);
      expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
      return statuses();
    };

    // All wait for the same seconds.
    let refusals: ReadonlyMap<string, PromiseSettledResult<unknown[]>>;
    beforeAll(async () => {
      const ways = [...changes, [EXPIRES, undefined] as const];
      const settled = await Promise.allSettled(ways.map(([, act]) => refusal(act)));
      refusals = new Map(ways.map(([name], i) => [name, settled[i]!]));
    });

    test.each([...changes.map(([name]) => name), EXPIRES])(
      "%s: its sessions are refused within ten seconds",
      (name) => {
        expect(refusals.get(name)).toEqual({ status: "fulfilled", value: [403, 403, "source_inactive"] });
      },
    );
  },
  facingTheWorld,
);
