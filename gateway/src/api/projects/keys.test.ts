import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { ListKeysResponseSchema } from "@tidemark/proto/runs/v1/runs";
import { inputOf } from "../route-input.fixture.ts";
import { decodeListKeys, encodeListKeys } from "./keys.ts";

const id = "5b0c0000-0000-4000-8000-00000000000a";
const decode = (query: Record<string, string>) => decodeListKeys(inputOf({ params: { project_id: id }, query }));

describe("GET /api/projects/{project_id}/keys reads", () => {
  test("nothing but the project", () => {
    const nothing = { projectId: id, prefix: "", q: "", kind: "", runIds: [], limit: 100, cursor: "" };
    expect(decode({})).toEqual(nothing);
    expect(decode({ kind: " ", limit: "", cursor: " " })).toEqual(nothing);
  });

  test("every parameter, of which the service judges kind, search and cursor", () => {
    const query = { prefix: " a", q: "re:/(/", kind: " x ", run_ids: `${id},,${id}`, limit: "1000", cursor: " c " };
    expect(decode(query)).toEqual({
      projectId: id,
      prefix: " a",
      q: "re:/(/",
      kind: "x",
      runIds: [id],
      limit: 1000,
      cursor: "c",
    });
  });

  test.each([
    [{ limit: "0" }, "limit"],
    [{ limit: "1001" }, "limit"],
    [{ run_ids: "x" }, "run_ids"],
  ])("the fault of %j, which waits until the project was found", (query, field) => {
    expect(decode(query as never)).toEqual({ projectId: id, queryFault: { text: expect.any(String), field } });
  });
});

test("keys are answered with their counts, and null for no further page", () => {
  const keys = [{ name: "lr", kind: "config", runCount: 3n }];
  expect(encodeListKeys(create(ListKeysResponseSchema, { keys })).body).toEqual({
    keys: [{ name: "lr", kind: "config", run_count: 3 }],
    next_cursor: null,
  });
  expect(encodeListKeys(create(ListKeysResponseSchema, { nextCursor: "c" })).body).toMatchObject({ next_cursor: "c" });
});
