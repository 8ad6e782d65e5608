import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { CreateEmbedSessionResponseSchema, EmbedSessionSchema } from "@tidemark/proto/reports/v1/embeds";
import { describeBody } from "../route-input.fixture.ts";
import { bodyOf } from "../response-schema.fixture.ts";
import { decodeCreateEmbed, encodeCreateEmbed, encodeCurrent, encodePolicy, readParentOrigin } from "./session.ts";
import { decodeEmbedData } from "./data.ts";

const id = "0c9b8a1e-2222-4222-8333-444455556666";
const at = "2026-01-02T03:04:05Z";
const body = { run_ids: [id], allowed_parent_origin: "https://portal.test" };
const message = {
  runIds: [id],
  allowedParentOrigin: "https://portal.test",
  ttlSeconds: 900,
  theme: "system",
  panelsMax: 8,
  pointsMax: 500,
};

describeBody(
  "POST /api/embed/sessions",
  decodeCreateEmbed,
  [
    ["runs and an origin", body, { message, warnings: [] }],
    [
      "everything",
      { ...body, ttl_seconds: 60, options: { theme: "dark", max_panels: 1, metric_point_limit: 10 } },
      { message: { ...message, ttlSeconds: 60, theme: "dark", panelsMax: 1, pointsMax: 10 }, warnings: [] },
    ],
    [
      "what is beyond its bounds, with warnings",
      { ...body, ttl_seconds: 9999, options: { theme: 7, max_panels: 50, metric_point_limit: 5000 } },
      {
        message: { ...message, ttlSeconds: 3600 },
        warnings: [
          "ttl_seconds must be from 60 to 3600; 3600 was taken",
          "theme must be one of light, dark, system; system was taken",
          "max_panels must be from 1 to 8; 8 was taken",
          "metric_point_limit must be from 1 to 500; 500 was taken",
        ],
      },
    ],
  ],
  [
    ["no origin", { run_ids: [id] }, "allowed_parent_origin"],
    ["a life that is a text", { ...body, ttl_seconds: "60" }, "ttl_seconds"],
  ],
);

describe("the origin of a parent page", () => {
  test.each([
    ["https://portal.test", "https://app.test", "https://portal.test"],
    ["HTTPS://Portal.Test:443", "https://app.test", "https://portal.test"],
    ["https://portal.test:8443", "http://127.0.0.1:1", "https://portal.test:8443"],
    ["http://localhost:3000", "http://127.0.0.1:1", "http://localhost:3000"],
    ["https://münchen.example", "https://app.test", "https://xn--mnchen-3ya.example"],
  ])("%s of a page that shows %s is read", (text, own, origin) => expect(readParentOrigin(text, own)).toBe(origin));

  test.each([
    ["*", "https://app.test"],
    ["https://*.portal.test", "https://app.test"],
    ["portal.test", "https://app.test"],
    ["https://portal.test/", "https://app.test"],
    ["https://portal.test/path", "https://app.test"],
    ["https://portal.test?a", "https://app.test"],
    ["https://portal.test#a", "https://app.test"],
    ["https://user@portal.test", "https://app.test"],
    ["https://portal.test;script-src", "https://app.test"],
    ["https://portal.test,x", "https://app.test"],
    ["https://[2001:db8::1]", "https://app.test"],
    ["ftp://portal.test", "https://app.test"],
    ["null", "https://app.test"],
    ["http://portal.test", "http://127.0.0.1:1"],
    ["http://localhost:3000", "https://app.test"],
    ["https://app.test", "https://app.test"],
    ["https://app.test:8443", "https://app.test"],
  ])("%s is refused by %s", (text, own) => {
    expect(() => readParentOrigin(text, own)).toThrow(
      expect.objectContaining({ reason: "bad_request", field: "allowed_parent_origin" }),
    );
  });
});

const session = create(EmbedSessionSchema, {
  id,
  allowedParentOrigin: "https://portal.test",
  runIds: [id],
  theme: "dark",
  panelsMax: 4,
  pointsMax: 100,
  expiresAt: at,
});

test("a new session is returned with the address of its frame and any warnings", () => {
  const made = create(CreateEmbedSessionResponseSchema, { session, token: "tm_embed_x" });
  const answer = (warnings: string[]) =>
    bodyOf(encodeCreateEmbed(made, { message, warnings }, { baseUrl: "https://app.test" }), "POST /api/embed/sessions");
  const expected = {
    embed_session: {
      id,
      expires_at: at,
      allowed_parent_origin: "https://portal.test",
      run_count: 1,
      iframe_src: `https://app.test/embed/runs/${id}#token=tm_embed_x`,
    },
    embed_token: "tm_embed_x",
  };
  expect(answer([])).toEqual(expected);
  expect(answer(["w"])).toEqual({ ...expected, warnings: ["w"] });
});

test("a session shows what its frame needs", () => {
  expect(bodyOf(encodeCurrent(session), "GET /api/embed/sessions/{session_id}/current")).toEqual({
    embed_session: { id, expires_at: at, run_count: 1, theme: "dark", has_custom_view: false },
  });
});

test.each([
  [false, true, "active"],
  [false, false, "source_inactive"],
  [true, true, "expired"],
  [true, false, "expired"],
])("a policy whose session expired (%s) and whose key works (%s) is %s", (expired, active, status) => {
  const found = { $typeName: "tidemark.reports.v1.GetEmbedPolicyResponse" as const, session, expired };
  expect(bodyOf(encodePolicy(found, active), "GET /api/embed/sessions/{session_id}/frame-policy")).toEqual({
    frame_policy: { session_id: id, status, allowed_parent_origin: "https://portal.test", expires_at: at },
  });
});

test.each([
  ["nothing", {}, 4, 100, 0],
  ["null", { options: null, refresh_reason: "timer" }, 4, 100, 0],
  ["less", { options: { max_panels: 2, metric_point_limit: 10 } }, 2, 10, 0],
  ["more than the session has", { options: { max_panels: 8, metric_point_limit: 500 } }, 4, 100, 0],
  ["more than there is", { options: { max_panels: 99, metric_point_limit: 9999 } }, 4, 100, 2],
])("options that ask for %s narrow the session", (_, sent, panelsMax, pointLimit, warnings) => {
  const asked = decodeEmbedData({ body: sent, embedSession: session });
  expect([asked.panelsMax, asked.pointLimit, asked.warnings.length]).toEqual([panelsMax, pointLimit, warnings]);
});
