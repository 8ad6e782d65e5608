import { describe, expect, test } from "@jest/globals";
import type { RouteInput } from "../route.ts";

/** A request as decoders get it, with what a test does not name left empty. */
export function inputOf(parts: Partial<RouteInput>): RouteInput {
  return {
    params: { run_id: "0c9b8a1e-1111-4222-8333-444455556666" },
    query: {},
    body: {},
    identity: undefined,
    idempotencyKey: undefined,
    knownTags: [],
    baseUrl: "http://127.0.0.1:8080",
    sessionToken: undefined,
    loginSecret: undefined,
    isFromThisMachine: true,
    cookieSecure: false,
    ...parts,
  };
}

type Body = RouteInput["body"];

/** Bodies with the values that they are read as, and bodies with the field that they are refused for. */
export function describeBody(
  name: string,
  decode: (input: RouteInput) => object,
  read: readonly [string, Body, object][],
  refused: readonly [string, Body, string][],
): void {
  describe(`${name}`, () => {
    test.each(read)("reads %s", (_, body, message) => expect(decode(inputOf({ body }))).toEqual(message));
    test.each(refused)("refuses %s", (_, body, field) => {
      expect(() => decode(inputOf({ body }))).toThrow(expect.objectContaining({ reason: "bad_request", field }));
    });
  });
}

/** Like `describeBody` for routes with a row in their path: faults travel in the message. */
export function describeRowBody(
  name: string,
  decode: (input: RouteInput) => object,
  read: readonly [string, Body, object][],
  faulty: readonly [string, Body, string][],
): void {
  describe(`${name}`, () => {
    test.each(read)("reads %s", (_, body, message) => {
      expect(decode(inputOf({ params: { org_id: "org" }, body }))).toEqual({
        orgId: "org",
        bodyFault: undefined,
        ...message,
      });
    });
    test.each(faulty)("sends on the fault of %s", (_, body, field) => {
      expect(decode(inputOf({ params: { org_id: "org" }, body }))).toMatchObject({
        orgId: "org",
        bodyFault: { field, text: expect.stringContaining(field) },
      });
    });
  });
}
