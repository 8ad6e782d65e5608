import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { CreateApiKeyResponseSchema } from "@tidemark/proto/control/v1/control";
import { at, id, key } from "../accounts.fixture.ts";
import { describeRowBody, inputOf } from "../route-input.fixture.ts";
import { bodyOf } from "../response-schema.fixture.ts";
import { decodeCreateApiKey, decodeDisableServiceAccount, decodeRevokeApiKey, encodeCreateApiKey } from "./keys.ts";

const uuid = "3f0c7e9a-0000-4000-8000-000000000001";

const noKey = { name: "", scopes: [], projectId: "", project: "", expiresAt: "", createdByUserId: "" };
describeRowBody(
  "POST /api/orgs/{org_id}/api-keys",
  decodeCreateApiKey,
  [
    ["nothing", {}, noKey],
    [
      "everything",
      {
        name: " ci ",
        scopes: [" export:read ", "export:read"],
        project_id: uuid,
        project: "demo",
        expires_at: "2030-01-02T03:04:05.6+01:00",
        created_by_user_id: uuid,
      },
      {
        name: "ci",
        scopes: ["export:read", "export:read"],
        projectId: uuid,
        project: "demo",
        expiresAt: "2030-01-02T02:04:05.6Z",
        createdByUserId: uuid,
      },
    ],
    ["nulls as absent", { name: null, scopes: null, project_id: null, expires_at: null }, noKey],
  ],
  [
    ["no scope at all", { scopes: [] }, "scopes"],
    ["an end that is not a text", { expires_at: 1 }, "expires_at"],
    ["a maker that is not an id", { created_by_user_id: "me" }, "created_by_user_id"],
  ],
);

test.each<[string, object, object]>([
  ["a key", decodeRevokeApiKey(inputOf({ params: { org_id: "org", key_id: "k" } })), { orgId: "org", keyId: "k" }],
  [
    "a service account",
    decodeDisableServiceAccount(inputOf({ params: { org_id: "org", service_account_id: "s" } })),
    { orgId: "org", serviceAccountId: "s" },
  ],
])("%s is sent on", (_, message, expected) => expect(message).toEqual(expected));

test("a new key is shown with its text once, in an answer that must not be cached", () => {
  const created = { plaintext: "tm_x", key, serviceAccount: { id, orgId: id, name: "ci", createdAt: at } };
  const reply = encodeCreateApiKey(create(CreateApiKeyResponseSchema, { created }));
  expect(reply.headers).toEqual({ "cache-control": "no-store" });
  const body = bodyOf(reply, "POST /api/orgs/{org_id}/api-keys");
  expect(body).toMatchObject({ api_key: "tm_x", api_key_available: true, message: null });
  expect(body).toMatchObject({
    key: { project_id: null, expires_at: null, last_used_at: null, revoked_at: null, created_by_user_id: null },
  });
});
