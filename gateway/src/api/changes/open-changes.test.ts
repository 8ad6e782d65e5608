import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { CallerKind, IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import { createCall } from "@tidemark/rpc";
import type { WantedStream } from "../../changes/event-streams.ts";
import type { Clients } from "../../clients.ts";
import type { RouteInput, HandlerContext } from "../../route.ts";
import { openChanges } from "./routes.ts";

function setUp() {
  const asked: string[] = [];
  const opened: WantedStream[] = [];
  const clients = {
    runs: {
      getProject: async ({ projectId }: { projectId: string }) => {
        asked.push(projectId);
        await new Promise((resolve) => setImmediate(resolve));
        return { project: { id: projectId } };
      },
    },
  } as unknown as Clients;
  const open = (identity: Partial<Identity>, headers: Record<string, string> = {}, method = "GET", id = "p") =>
    openChanges(
      {
        params: { project_id: id },
        identity: create(IdentitySchema, { kind: CallerKind.API_KEY, orgId: "o", ...(identity as object) }),
      } as unknown as RouteInput,
      clients,
      createCall({ timeoutMs: 1000 }),
      {
        request: { method, headers },
        newCall: () => Promise.resolve(createCall({ timeoutMs: 1000 })),
        openStream: (wanted: WantedStream) => {
          opened.push(wanted);
          return { start: () => {}, giveUp: () => {} };
        },
      } as unknown as HandlerContext,
    );
  return { open, asked, opened };
}

test("streams that begin together share the look-up of their project, those who may see different things do not", async () => {
  const { open, asked, opened } = setUp();
  await Promise.all([
    open({ credentialId: "a" }),
    open({ credentialId: "b" }),
    open({ projectId: "p" }),
    open({ orgId: "other" }),
    open({}, {}, "GET", "q"),
  ]);
  expect(asked).toHaveLength(4);
  expect(opened).toHaveLength(5);
  await open({});
  expect(asked).toHaveLength(5);
});

test("the id of the last event is passed on, a blank one is none, and HEAD opens nothing", async () => {
  const { open, opened } = setUp();
  await open({}, { "last-event-id": "x" });
  await open({}, { "last-event-id": "" });
  expect(opened.map(({ lastEventId }) => lastEventId)).toEqual(["x", undefined]);
  expect(await open({}, {}, "HEAD")).toMatchObject({
    bytes: Buffer.alloc(0),
    headers: { "cache-control": "no-store" },
  });
  expect(opened).toHaveLength(2);
});
