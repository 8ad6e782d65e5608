import { describe, expect, test } from "@jest/globals";
import { sanitize } from "./sanitize.rules.ts";

describe("a member is removed that is called", () => {
  test.each([
    "password",
    "userPassword",
    "client_secret",
    "Token",
    "api-key",
    "Authorization",
    "credentials",
    "cookie",
    "tenantRoute",
    "localStorageKey",
    "signed_url",
    "presignedPut",
    "bucketName",
    "objectKey",
    "object_path",
    "artifactUri",
    "org_id",
    "organizationId",
    "userId",
    "ownerUserId",
    "session.id",
    "tenantId",
    "runId",
    "run_ids",
    "primaryRunId",
    "referenceRunId",
    "selectedRunId",
    "selectedRunIds",
    "storageKey",
    "bucket",
    "url",
    "URI",
    "artifactUrl",
  ])("%s", (key) => {
    expect(sanitize({ a: { [key]: 1, kept: 2 } }).value).toEqual({ a: { kept: 2 } });
  });
});

describe("a member is kept that is called", () => {
  test.each(["metricKey", "urls", "run", "runName", "buckets", "sessions", "org", "id", "", "ключ"])("%s", (key) => {
    expect(sanitize({ [key]: 1 })).toEqual({ value: { [key]: 1 }, warnings: [] });
  });
});

describe("a value is removed that is", () => {
  test.each([
    "http://a",
    "HTTPS://a",
    " s3://b/c",
    "gs://b",
    "Bearer abc",
    "sk_live_x",
    "pk_x",
    "AKIAIOSFODNN7EXAMPLE",
    "a?signature=1",
    "x token=1",
    "Password=1",
    "secret=",
    "api_key=1",
    "credential=1",
    "session=1",
    "window.localStorage",
    "-----BEGIN PRIVATE KEY-----",
    `key tm_share_${"a".repeat(12)}_${"b".repeat(32)}_cccccc`,
    `tm_${"a".repeat(12)}_${"b".repeat(32)}_cccccc`,
  ])("%s", (text) => {
    expect(sanitize({ a: text, list: [1, text, 2] }).value).toEqual({ list: [1, 2] });
  });
});

test.each(["loss", "see http://a", "bearer", "token", "tm_loss", "a=b"])("the value %s is kept", (text) => {
  expect(sanitize([text]).value).toEqual([text]);
});

test("warnings name the place of what was removed", () => {
  const { warnings } = sanitize({ a: [{ "b c": { token: 1 } }, "http://x"] });
  expect(warnings.map((warning) => warning.split(" was removed")[0])).toEqual(['$.a[0]["b c"].token', "$.a[1]"]);
});

test("there are at most 101 warnings, of bounded length", () => {
  const long = "k".repeat(5000);
  const { warnings } = sanitize({ [long]: Array.from({ length: 5000 }, () => "http://x") });
  expect(warnings).toHaveLength(101);
  expect(warnings[100]).toBe("4900 more were removed");
  expect(Math.max(...warnings.map(({ length }) => length))).toBeLessThan(300);
});
