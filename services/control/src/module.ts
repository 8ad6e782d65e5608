import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { startChangePublisher } from "@tidemark/bus";
import { ConfigError } from "@tidemark/host/config";
import { defineModule } from "@tidemark/host";
import { startRelay, startRemover, type MigrationSet } from "@tidemark/pg";
import { loadPlans } from "@tidemark/requests";
import { ControlService } from "@tidemark/proto/control/v1/control";
import { implement } from "@tidemark/rpc";
import type { Log } from "@tidemark/telemetry";
import { controlConfig } from "./config.ts";
import { controlHandlers } from "./handlers.ts";
import { createLogMail, noMail, type Mail, createSmtpMail } from "./mail/mail.ts";
import { mailFaults, smtpSettingsOf, type MailConfig } from "./mail/mail.rules.ts";
import { oidcFaults, oidcSettingsOf } from "./oidc/oidc.rules.ts";
import { createProvider } from "./oidc/provider.ts";
import { removeOrganization } from "./removal/remove-organization.ts";
import { beginDueRemovals } from "./removal/removed-rows.sql.ts";
import { stopAnsweredSubject, stopRequestedSubject } from "./stops/stop-runs.ts";
import { createRunDirectory } from "./stops/run-directory.ts";
import { readChangedPage, readRunningPage, findRuns } from "./stops/run-states.sql.ts";
import { startControlUpkeep } from "./upkeep/upkeep.ts";

/** Schema `control`: users, organizations, members, credentials. */
export const controlMigrations: MigrationSet = {
  schema: "control",
  directory: join(import.meta.dirname, "store"),
};

/** Accounts, sessions, keys and their projection for gateways; and which runs should stop. */
export const controlModule = defineModule({
  name: "control",
  config: controlConfig,
  schema: "control",
  migrations: controlMigrations,
  reads: [
    "runs.adopt_changes_v1",
    "runs.changed_page_v1",
    "runs.lock_state_v1",
    "runs.project_refs_v1",
    "runs.run_control_v1",
    "runs.running_page_v1",
    "runs.set_state_v1",
  ],
  provides: [ControlService],
  needs: [],
  async start(context) {
    const { config, log, bus, metrics } = context;
    const faults = [...oidcFaults(config), ...mailFaults(config)];
    if (faults.length > 0) throw new ConfigError(faults);
    const now = () => context.now();
    const plans = loadPlans(config.plansFile);
    const db = context.db();
    const workerDb = context.workerDb();
    const relay = startRelay({
      db: workerDb,
      service: "control",
      publish: ({ subject, payload, id, headers }) => bus.publish(subject, payload, { id, headers }),
      onError: (error) => log.warn("a message could not be relayed; it is tried again", { error }),
      onLag: (seconds) => metrics.outboxLag("control", seconds),
    });
    const upkeep = startControlUpkeep({ db, workerDb, now, log });
    const remover = startRemover({
      db: workerDb,
      service: "control",
      before: () => beginDueRemovals(workerDb, now()),
      remove: (removal) => removeOrganization(workerDb, removal),
      seconds: config.removalSeconds,
      log,
    });
    const runs = createRunDirectory({
      read: {
        runningPage: (page) => readRunningPage(db, page),
        changedPage: (page) => readChangedPage(db, page),
        run: (orgId, runId) => db.withTenant(orgId, async (tx) => (await findRuns(tx, orgId, [runId]))[0]),
      },
      nowMs: () => performance.now(),
      log,
    });
    // Messages are lost while the bus is not available, so a new connection reads changes immediately.
    const wakes = await Promise.all(
      [stopRequestedSubject, stopAnsweredSubject].map((subject) => bus.listen(subject, runs.wake, runs.wake)),
    );
    runs.start();
    const oidc = oidcSettingsOf(config);
    const changes = startChangePublisher({
      bus,
      id: randomBytes(6).toString("hex"),
      steadyMs: () => performance.now(),
    });
    const handlers = controlHandlers({
      db,
      runs,
      noteChange: changes.note,
      now,
      newId: randomUUID,
      randomBytes,
      mail: chooseMail(config, log),
      wakeRelay: () => relay.wake(),
      settings: {
        plans,
        devAuth: config.devAuth,
        seatLimits: config.limits,
        webUrl: config.webUrl,
        graceDays: config.deletionGraceDays,
        oidc: oidc && {
          provider: createProvider(oidc.provider, { log, nowMs: () => performance.now() }),
          admission: oidc.admission,
        },
      },
    });
    return {
      implementations: [implement(ControlService, handlers)],
      ready: async () => runs.loaded() && (await db.ping()),
      stop: async () => {
        changes.stop();
        await Promise.all(wakes.map((wake) => wake.close()));
        await runs.stop();
        await relay.stop();
        await upkeep.stop();
        await remover.stop();
      },
    };
  },
});

function chooseMail(config: MailConfig, log: Log): Mail {
  const smtp = smtpSettingsOf(config);
  if (smtp !== undefined) return createSmtpMail(smtp, { log });
  return config.mail === "off" ? noMail : createLogMail(log);
}
