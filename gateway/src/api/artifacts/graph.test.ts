import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import { GetLineageGraphResponseSchema } from "@tidemark/proto/artifacts/v1/versions";
import { inputOf } from "../route-input.fixture.ts";
import { decodeGetLineageGraph, encodeGetLineageGraph } from "./graph.ts";

const decode = (query: Record<string, string>) =>
  decodeGetLineageGraph(inputOf({ params: { version_id: "1" }, query }));

describe("a graph of versions and runs", () => {
  test("is asked for with its bounds", () => {
    expect(decode({})).toEqual({ versionId: "1", hops: 4, limit: 20, queryFault: undefined });
    expect(decode({ hops: "10", limit: "100" })).toMatchObject({ hops: 10, limit: 100 });
  });

  test.each([
    ["hops", "0"],
    ["hops", "11"],
    ["hops", "x"],
    ["limit", "0"],
    ["limit", "101"],
  ])("with %s=%s is refused", (field, value) => {
    expect(decode({ [field]: value })).toMatchObject({ versionId: "1", queryFault: { field } });
  });

  test("has edges from what was used to what was made", () => {
    const response = create(GetLineageGraphResponseSchema, {
      versions: [
        {
          version: {
            id: "b",
            name: "model",
            type: "model",
            versionIndex: 3,
            aliases: ["best"],
            sizeBytes: 7n,
            state: "active",
          },
          project: "p",
          more: true,
        },
      ],
      runs: [{ runId: "r", name: "train", project: "p", status: "failed", hop: -1 }],
      edges: [
        { runId: "r", versionId: "b", direction: "output" },
        { runId: "r", versionId: "b", direction: "input" },
      ],
      hops: 4,
      limit: 20,
    });
    expect(encodeGetLineageGraph(response)).toEqual({
      body: {
        nodes: [
          {
            id: "artifact-version:b",
            kind: "artifact_version",
            label: "model:v3",
            summary: { project: "p", type: "model", aliases: ["best"], size_bytes: 7 },
            state: "active",
            hop: 0,
            more: true,
          },
          {
            id: "run:r",
            kind: "run",
            label: "train",
            summary: { project: "p", status: "failed" },
            state: "failed",
            hop: -1,
            more: false,
          },
        ],
        edges: [
          { from: "run:r", to: "artifact-version:b", direction: "output" },
          { from: "artifact-version:b", to: "run:r", direction: "input" },
        ],
        truncated: true,
        hops: 4,
        limit: 20,
      },
    });
    expect(encodeGetLineageGraph({ ...response, versions: [] })).toMatchObject({ body: { truncated: false } });
  });
});
