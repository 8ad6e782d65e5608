import { fromBinary } from "@bufbuild/protobuf";
import { CHANGES_SUBJECT, type Bus } from "@tidemark/bus";
import { ChangesSchema } from "@tidemark/proto/changes/v1/changes";
import type { Log } from "@tidemark/telemetry";
import { createChangeHub, type ChangeHub } from "./change-hub.ts";
import { createPublishers } from "./publishers.rules.ts";
import { createRecentChanges } from "./recent-changes.rules.ts";

/** The hub with what keeps it up to date. */
export type ChangeFeed = { readonly hub: ChangeHub; readonly stop: () => Promise<void> };

const TICK_MS = 500;
/** A tick that is later than this was delayed, and messages with it. */
const LATE_MS = 1500;
/** Without the bus, clients are notified at this interval to read again. */
const BLIND_MS = 5000;

/** Listens for the announcements of publishers, and for their silence. */
export async function startChangeFeed(options: {
  readonly bus: Pick<Bus, "listen" | "connected">;
  /** A clock that never goes back. */
  readonly nowMs: () => number;
  readonly log: Log;
}): Promise<ChangeFeed> {
  const { bus, nowMs, log } = options;
  const publishers = createPublishers(nowMs());
  const recent = createRecentChanges(publishers.forgot);
  const hub = createChangeHub({
    publishers,
    recent,
    nowMs,
    schedule: (ms, act) => {
      const timer = setTimeout(act, ms);
      timer.unref();
      return () => clearTimeout(timer);
    },
  });
  let tickedMs = nowMs();
  let blindSinceMs: number | undefined;

  const tick = (): void => {
    const now = nowMs();
    const isLate = now - tickedMs > LATE_MS;
    tickedMs = now;
    recent.forgetOld(now);
    if (!bus.connected()) {
      blindSinceMs ??= now;
      publishers.forgive(now);
      if (now - blindSinceMs < BLIND_MS) return;
      blindSinceMs = now;
      hub.resetAll();
      return;
    }
    if (isLate || blindSinceMs !== undefined) publishers.forgive(now);
    blindSinceMs = undefined;
    if (!publishers.dropSilent(now)) return;
    log.warn("a process that announces changes has died; its last changes may be lost, so streams are reset");
    hub.resetAll();
  };

  const listening = await bus.listen(
    CHANGES_SUBJECT,
    ({ data }) => hub.take(fromBinary(ChangesSchema, data)),
    () => publishers.forgive(nowMs()),
  );
  const timer = setInterval(tick, TICK_MS);
  timer.unref();
  return {
    hub,
    async stop() {
      clearInterval(timer);
      await listening.close();
    },
  };
}
