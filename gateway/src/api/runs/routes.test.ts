import { describe, expect, test } from "@jest/globals";
import { AppError } from "@tidemark/errors";
import { createCall, type Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import { afterRunChange } from "./change.ts";

/** A control service that is asked to catch up. */
function controlThat(catchUp: (call: Call) => Promise<object>): { clients: Clients; calls: Call[] } {
  const calls: Call[] = [];
  const catchUpRuns = (_request: object, call: Call) => {
    calls.push(call);
    return catchUp(call);
  };
  return { clients: { control: { catchUpRuns } } as unknown as Clients, calls };
}

describe("after a change to a run", () => {
  test("the control service catches up before the answer, for at most a second and without an identity", async () => {
    const { clients, calls } = controlThat(async () => ({}));
    const call = createCall({ requestId: "r", timeoutMs: 60_000 });
    expect(await afterRunChange(Promise.resolve("changed"), clients, call)).toBe("changed");
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({ requestId: "r", identity: undefined });
    expect(calls[0]!.deadlineMs).toBeLessThan(call.deadlineMs - 50_000);
  });

  test("a control service that is gone changes nothing", async () => {
    const { clients } = controlThat(() => Promise.reject(new AppError("service_unavailable", "gone")));
    expect(await afterRunChange(Promise.resolve("changed"), clients, createCall())).toBe("changed");
  });

  test("that was refused the control service is not called", async () => {
    const { clients, calls } = controlThat(async () => ({}));
    await expect(afterRunChange(Promise.reject(new Error("refused")), clients, createCall())).rejects.toThrow(
      "refused",
    );
    expect(calls).toEqual([]);
  });
});
