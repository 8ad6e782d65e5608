import { describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { AppError } from "@tidemark/errors";
import { IdentitySchema } from "@tidemark/proto/common/v1/common";
import {
  AppendMetricsResponseSchema,
  AppendMetricsTogetherResponseSchema,
  type AppendMetricsOutcome,
} from "@tidemark/proto/ingest/v1/ingest";
import { createCall, toRefusal, type Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import { shareWrites } from "./share-writes.ts";

type Ingest = Clients["ingest"];
type Write = Parameters<Ingest["appendMetrics"]>[0];

/** A service that answers when the test says so. */
function service() {
  const calls: { writes: string[]; deadlineMs: number; answer(): void; fail(error: Error): void }[] = [];
  const outcomeOf = (request: Write): AppendMetricsOutcome["outcome"] => {
    if (request.runId!.startsWith("held")) return { case: "alone", value: true };
    if (request.runId!.startsWith("gone"))
      return { case: "refused", value: toRefusal(new AppError("not_found", "run not found", { field: "run_id" })) };
    return {
      case: "stored",
      value: create(AppendMetricsResponseSchema, { inserted: request.columns!.values!.length }),
    };
  };
  const answered = <T>(writes: readonly Write[], call: Call, make: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      const { deadlineMs } = call;
      calls.push({
        writes: writes.map(({ runId }) => runId!),
        deadlineMs,
        answer: () => resolve(make()),
        fail: reject,
      });
    });
  const ingest = {
    appendMetrics: (request: Write, call: Call) =>
      answered([request], call, () => create(AppendMetricsResponseSchema, { inserted: 100 })),
    appendMetricsTogether: ({ writes }: { writes: Write[] }, call: Call) =>
      answered(writes, call, () =>
        create(AppendMetricsTogetherResponseSchema, { outcomes: writes.map((w) => ({ outcome: outcomeOf(w) })) }),
      ),
  } as unknown as Ingest;
  return { calls, shared: shareWrites(ingest) };
}

const callOf = (orgId: string): Call => createCall({ identity: create(IdentitySchema, { orgId }) });
const write = (runId: string, values = 1): Write => ({
  runId,
  columns: { values: Array.from({ length: values }, () => 1) },
});
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("metric writes that share calls", () => {
  test("go alone while nothing is on the way, and together once two calls are", async () => {
    const { calls, shared } = service();
    const call = callOf("a");
    const answers = ["1", "2", "3", "4", "5"].map((runId) => shared.appendMetrics(write(runId, 7), call));
    expect(calls.map(({ writes }) => writes)).toEqual([["1"], ["2"]]);
    calls[0]!.answer();
    await turn();
    expect(calls[2]!.writes).toEqual(["3", "4", "5"]);
    calls[1]!.answer();
    calls[2]!.answer();
    expect((await Promise.all(answers)).map(({ inserted }) => inserted)).toEqual([100, 100, 7, 7, 7]);
    await turn();
    void shared.appendMetrics(write("6"), call);
    expect(calls[3]!.writes).toEqual(["6"]);
  });

  test("of different callers never do", async () => {
    const { calls, shared } = service();
    for (const call of [callOf("a"), callOf("b")]) {
      for (const runId of ["1", "2", "3"]) void shared.appendMetrics(write(`${call.identity!.orgId}${runId}`), call);
    }
    expect(calls.map(({ writes }) => writes)).toEqual([["a1"], ["a2"], ["b1"], ["b2"]]);
    for (const call of calls.slice()) call.answer();
    await turn();
    expect(calls.slice(4).map(({ writes }) => writes)).toEqual([["a3"], ["b3"]]);
  });

  test("fail one by one, and a write that another process holds is sent again alone", async () => {
    const { calls, shared } = service();
    const call = callOf("a");
    for (const runId of ["1", "2"]) void shared.appendMetrics(write(runId), call);
    const [gone, fine, held] = ["gone", "fine", "held"].map((runId) => shared.appendMetrics(write(runId), call));
    calls[0]!.answer();
    await turn();
    calls[2]!.answer();
    await expect(gone).rejects.toMatchObject({ reason: "not_found", message: "run not found", field: "run_id" });
    expect((await fine)!.inserted).toBe(1);
    expect(calls[3]!.writes).toEqual(["held"]);
    calls[3]!.answer();
    expect((await held)!.inserted).toBe(100);
  });

  test("all fail when their call does", async () => {
    const { calls, shared } = service();
    const call = callOf("a");
    for (const runId of ["1", "2"]) void shared.appendMetrics(write(runId), call);
    const answers = ["3", "4"].map((runId) => shared.appendMetrics(write(runId), call));
    calls[0]!.answer();
    await turn();
    calls[2]!.fail(new AppError("service_unavailable", "gone"));
    for (const answer of answers) await expect(answer).rejects.toMatchObject({ reason: "service_unavailable" });
  });

  test("share a call up to 64 writes and 8,192 values", async () => {
    const { calls, shared } = service();
    const call = callOf("a");
    const send = (runId: string, values: number) => void shared.appendMetrics(write(runId, values), call);
    for (const runId of ["1", "2"]) send(runId, 1);
    for (const values of [4000, 4000, 193, 8192]) send(String(values), values);
    for (let i = 0; i < 65; i++) send(`s${i}`, 1);
    const sizes: string[][] = [];
    for (let i = 0; i < calls.length; i++) {
      calls[i]!.answer();
      await turn();
      sizes.push(calls[i]!.writes);
    }
    expect(sizes.slice(2, 5)).toEqual([["4000", "4000"], ["193"], ["8192"]]);
    expect(sizes.slice(5).map((writes) => writes.length)).toEqual([64, 1]);
  });

  test("above 8,192 values go alone and immediately", () => {
    const { calls, shared } = service();
    const call = callOf("a");
    for (const runId of ["1", "2", "3"]) void shared.appendMetrics(write(runId, 8193), call);
    expect(calls).toHaveLength(3);
  });

  test("wait no longer than the first of them may, and one whose time is over does not take others with it", async () => {
    const { calls, shared } = service();
    const call = callOf("a");
    for (const runId of ["1", "2"]) void shared.appendMetrics(write(runId), call);
    void shared.appendMetrics(write("late"), { ...call, deadlineMs: Date.now() - 1 });
    void shared.appendMetrics(write("3"), { ...call, deadlineMs: call.deadlineMs - 5 });
    void shared.appendMetrics(write("4"), call);
    for (let i = 0; i < calls.length; i++) {
      calls[i]!.answer();
      await turn();
    }
    expect(calls.slice(2).map(({ writes }) => writes)).toEqual([["late"], ["3", "4"]]);
    expect(calls[3]!.deadlineMs).toBe(call.deadlineMs - 5);
  });
});
