import { describe, expect, test } from "@jest/globals";
import { RUN_STATUSES, STOP_STATES, transitionRow, TRANSITIONS, type Trigger } from "./transition-table.ts";

const everyTrigger: readonly Trigger[] = [
  "resume",
  "patch_running",
  "patch_finished",
  "patch_failed",
  "stop",
  "ack_acknowledged",
  "ack_completed",
  "ack_other_request",
];
const cells = everyTrigger.flatMap((on) =>
  RUN_STATUSES.flatMap((status) => STOP_STATES.map((stop) => ({ on, status, stop }))),
);

describe("the transition table", () => {
  test.each(cells)("has one answer to $on of a $status run with stop state $stop", ({ on, status, stop }) => {
    const rows = TRANSITIONS.filter((row) => row.on === on && row.status.includes(status) && row.stop.includes(stop));
    const impossible = stop === "none" && (on === "ack_acknowledged" || on === "ack_completed");
    expect(rows).toHaveLength(impossible ? 0 : 1);
    if (impossible) expect(() => transitionRow(on, status, stop)).toThrow(`no transition for ${on}`);
    else expect(transitionRow(on, status, stop)).toBe(rows[0]);
  });
});
