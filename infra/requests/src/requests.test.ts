import { expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { createCall } from "@tidemark/rpc";
import { callerOf, canSee, isUuid, pathId, readPage, requireLimit, throwFault } from "./index.ts";

const org = "0c8ffd3a-0000-4000-8000-000000000001";
const project = "0c8ffd3a-0000-4000-8000-000000000002";

test("a caller is the identity of the call, without empty texts", () => {
  const identity = create(IdentitySchema, {
    kind: CallerKind.API_KEY,
    orgId: org,
    planTier: "pro",
    scopes: ["sdk:ingest"],
  });
  expect(callerOf(createCall({ identity }))).toEqual({
    kind: CallerKind.API_KEY,
    orgId: org,
    projectId: undefined,
    planTier: "pro",
    billingState: "",
    scopes: ["sdk:ingest"],
  });
});

test.each([
  ["no identity", undefined],
  ["an identity without an organization", create(IdentitySchema, { kind: CallerKind.OPERATOR })],
])("%s is refused", (_case, identity) => {
  expect(() => callerOf(createCall({ identity }))).toThrow(expect.objectContaining({ reason: "unauthenticated" }));
});

test.each([
  ["a row of the organization", { orgId: org, projectId: undefined }, true],
  ["a row of the caller's project", { orgId: org, projectId: project }, true],
  ["a row of another project", { orgId: org, projectId: org }, false],
  ["a row of another organization", { orgId: project, projectId: undefined }, false],
])("%s", (_case, caller, visible) => {
  expect(canSee(caller, { orgId: org, projectId: project })).toBe(visible);
});

test("a fault is thrown with its field, and without one when it is of no single field", () => {
  expect(() => throwFault({ text: "too long", field: "name" })).toThrow(
    expect.objectContaining({ reason: "bad_request", message: "too long", field: "name" }),
  );
  expect(() => throwFault({ text: "empty", field: "" })).toThrow(expect.objectContaining({ field: undefined }));
  expect(() => throwFault(undefined)).not.toThrow();
});

test("an id of a path is in lower case, and a text that is not a UUID is not found", () => {
  expect(pathId(org.toUpperCase(), "run")).toBe(org);
  for (const text of ["", "x", `{${org}}`, org.replaceAll("-", ""), `${org}\n`]) {
    expect(isUuid(text)).toBe(false);
    expect(() => pathId(text, "run")).toThrow(
      expect.objectContaining({ reason: "not_found", message: "run not found" }),
    );
  }
});

test.each([
  ["absent", undefined, { limit: 100, offset: 0 }],
  ["empty", { limit: 0, offset: 0n }, { limit: 100, offset: 0 }],
  ["within the bounds", { limit: 7, offset: 20n }, { limit: 7, offset: 20 }],
  ["too large", { limit: 5000, offset: 0n }, { limit: 1000, offset: 0 }],
])("a page that is %s", (_case, page, expected) => {
  expect(readPage(page, { default: 100, max: 1000 })).toEqual(expected);
});

test("a page size has to be within its bounds", () => {
  expect(requireLimit(1, 10)).toBe(1);
  expect(requireLimit(10, 10)).toBe(10);
  for (const limit of [0, 11, -1, Number.NaN]) {
    expect(() => requireLimit(limit, 10, "metric_limit")).toThrow(
      expect.objectContaining({ reason: "bad_request", field: "metric_limit" }),
    );
  }
});
