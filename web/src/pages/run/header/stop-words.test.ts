import { describe, expect, test } from "@jest/globals";
import type { RunControl } from "../../../api/run-types.ts";
import { stopWords } from "./stop-words.ts";

const at = (seconds: number): string => new Date(1_000_000 + seconds * 1000).toISOString();
const now = (seconds: number): number => 1_000_000 + seconds * 1000;
const control = (change: Partial<RunControl>): RunControl => ({
  stop_state: "requested",
  display_status: "stopping",
  stop_request_id: "x",
  actor: "user",
  stop_requested_at: at(0),
  stop_acknowledged_at: null,
  stop_completed_at: null,
  ...change,
});

describe("a stop request", () => {
  test("that does not exist has no text", () => {
    expect(stopWords(control({ stop_state: "none", stop_requested_at: null }), now(9))).toBeUndefined();
  });

  test("has its age and who asked", () => {
    const words = stopWords(control({ actor: "api_key" }), now(12))!;
    expect(words.sentence).toBe("Stop requested 12 s ago by an API key. Waiting for the training process to answer.");
    expect(words.tone).toBe("wait");
  });

  test("that waits for long says why that may be", () => {
    const words = stopWords(control({}), now(200))!;
    expect(words.sentence).toContain(
      "Stop requested 3 min 20 s ago by a person. The training process has not answered",
    );
    expect(words.tone).toBe("warn");
  });

  test("that is acknowledged shows since when", () => {
    const words = stopWords(control({ stop_state: "acknowledged", stop_acknowledged_at: at(10) }), now(15))!;
    expect(words.sentence).toBe("The training process acknowledged the request 5 s ago and is stopping.");
    expect(words.steps.map((step) => step.at !== null)).toEqual([true, true, false]);
  });

  test("that is completed shows how long it took", () => {
    const done = { stop_state: "completed", stop_acknowledged_at: at(10), stop_completed_at: at(75) } as const;
    expect(stopWords(control(done), now(500))!.sentence).toBe("Stopped 1 min 15 s after a person asked.");
  });

  test("that came too late says so", () => {
    const words = stopWords(control({ stop_state: "terminal_without_completion", actor: null }), now(60))!;
    expect(words.sentence).toBe("The run ended by itself; someone had asked it to stop 1 min ago.");
  });
});
