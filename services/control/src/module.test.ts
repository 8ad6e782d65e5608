import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { createMemoryBus } from "@tidemark/bus";
import { parseConfig, type Environment } from "@tidemark/host/config";
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
import { startMailServer } from "./mail/mail-server.fixture.ts";

const operator = createCall({ identity: create(IdentitySchema, { kind: CallerKind.OPERATOR }) });

/** Starts the module with settings and a database of its own. */
async function startModule(env: Environment) {
  const database = await createTestDatabase([controlMigrations, runsMigrations]);
  const open = (role: string) => createDb({ url: database.url, role, application: "control-test", connectionsMax: 4 });
  const [db, workerDb] = [open("tidemark_control"), open("tidemark_control_worker")];
  const bus = createMemoryBus();
  const lines: string[] = [];
  const context: ModuleContext = {
    config: parseConfig({ control: controlConfig }, env).control,
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
  const release = async (): Promise<void> => {
    await bus.close();
    await workerDb.close();
    await database.drop();
  };
  const running = await controlModule.start(context).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  return {
    running,
    client: createLocalClient(ControlService, running.implementations[0]!),
    bus,
    db,
    log: () => lines.join(""),
    /** After the module has stopped and `db` was closed. */
    release,
  };
}

test("the module answers, wakes listeners of the bus after a change, and does its upkeep", async () => {
  const { running, client, bus, db, log, release } = await startModule({});
  try {
    // It has to read the running runs first.
    while (!(await running.ready())) await new Promise((resolve) => setTimeout(resolve, 5));
    const woken = new Promise<string>((resolve) => {
      void bus.listen("tidemark.control.projection_changed.v1", ({ subject }) => resolve(subject));
    });
    const { organization } = await client.createOrganization({ name: "Acme" }, operator);
    expect(await woken).toBe("tidemark.control.projection_changed.v1");

    const orgId = organization!.id;
    const { sent } = await client.createInvitation({ orgId, email: "a@b.co", baseUrl: "http://x" }, operator);
    expect(sent!.previewLink).toContain("#token=tm_invite_");
    expect(log()).toContain(sent!.invitation!.id);
    expect(log()).not.toContain(sent!.previewLink.split("token=")[1]);

    await running.stop?.();
    expect(log()).toContain("upkeep done");
    await db.close();
    expect(await running.ready()).toBe(false);
  } finally {
    await release();
  }
});

test("the mail server of the settings gets invitations, and the sender learns of those that it does not take", async () => {
  const server = await startMailServer({ authOptional: true });
  const { running, client, db, release } = await startModule({
    TIDEMARK_MAIL: "smtp",
    TIDEMARK_MAIL_FROM: "tidemark@example.org",
    TIDEMARK_SMTP_URL: `smtp://localhost:${server.port}`,
    TIDEMARK_SMTP_TLS: "off",
  });
  try {
    const { organization } = await client.createOrganization({ name: "Acme" }, operator);
    const invite = async (email: string) =>
      (await client.createInvitation({ orgId: organization!.id, email, baseUrl: "http://x" }, operator)).sent!;
    const sent = await invite("a@b.co");
    expect(sent).toMatchObject({ previewLink: "", deliveryError: "", invitation: { deliveryStatus: "sent" } });
    expect(server.delivered).toMatchObject([{ to: ["a@b.co"], content: expect.stringContaining("tm_invite_") }]);
    expect(await invite("gone@b.co")).toMatchObject({
      deliveryError: "the message could not be sent",
      invitation: { deliveryStatus: "failed" },
    });
  } finally {
    await running.stop?.();
    await db.close();
    await release();
    await server.close();
  }
});

test("settings of mail that do not fit together are refused at the start", async () => {
  await expect(startModule({ TIDEMARK_MAIL: "smtp" })).rejects.toThrow("TIDEMARK_MAIL=smtp needs TIDEMARK_SMTP_URL");
});
