import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { createMemoryBus } from "@tidemark/bus";
import { parseConfig } from "@tidemark/config";
import type { ModuleContext } from "@tidemark/host";
import { createDb } from "@tidemark/pg";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { ControlService } from "@tidemark/proto/control/v1/control";
import { createCall, createLocalClient } from "@tidemark/rpc";
import { createLog, createMetrics } from "@tidemark/telemetry";
import { createTestDatabase } from "@tidemark/testkit";
import { controlConfig } from "./config.ts";
import { runsMigrations } from "./control.fixture.ts";
import { controlMigrations, controlModule } from "./index.ts";

test("the module answers, wakes listeners of the bus after a change, and does its upkeep", async () => {
  const database = await createTestDatabase([controlMigrations, runsMigrations]);
  const open = (role: string) => createDb({ url: database.url, role, application: "control-test", connectionsMax: 4 });
  const [db, workerDb] = [open("tidemark_control"), open("tidemark_control_worker")];
  const bus = createMemoryBus();
  const lines: string[] = [];
  const context: ModuleContext = {
    config: parseConfig({ control: controlConfig }, {}).control,
    log: createLog({ level: "debug", service: "control", destination: { write: (line) => lines.push(line) } }),
    metrics: createMetrics("control", "0"),
    db: () => db,
    connection: () => ({ url: database.url, role: "tidemark_control", application: "test" }),
    workerDb: () => workerDb,
    bus,
    blob: () => Promise.reject(new Error("control keeps no artifacts")),
    client: () => {
      throw new Error("control needs no peer");
    },
    isLocal: () => false,
    peersReady: () => Promise.resolve(true),
    turns: { begin: () => ({ end: () => {} }), waiting: () => 0, close: () => {} },
    ownCall: () => createCall(),
    now: () => new Date(),
  };
  const running = await controlModule.start(context);
  try {
    // It has to read the running runs first.
    while (!(await running.ready())) await new Promise((resolve) => setTimeout(resolve, 5));
    const woken = new Promise<string>((resolve) => {
      void bus.listen("tidemark.control.projection_changed.v1", ({ subject }) => resolve(subject));
    });
    const client = createLocalClient(ControlService, running.implementations[0]!);
    const operator = createCall({ identity: create(IdentitySchema, { kind: CallerKind.OPERATOR }) });
    const { organization } = await client.createOrganization({ name: "Acme" }, operator);
    expect(await woken).toBe("tidemark.control.projection_changed.v1");

    const orgId = organization!.id;
    const { sent } = await client.createInvitation({ orgId, email: "a@b.co", baseUrl: "http://x" }, operator);
    expect(sent!.previewLink).toContain("#token=tm_invite_");
    const log = lines.join("");
    expect(log).toContain(sent!.invitation!.id);
    expect(log).not.toContain(sent!.previewLink.split("token=")[1]);

    await running.stop?.();
    expect(lines.join("")).toContain("upkeep done");
    await db.close();
    expect(await running.ready()).toBe(false);
  } finally {
    await bus.close();
    await workerDb.close();
    await database.drop();
  }
});
