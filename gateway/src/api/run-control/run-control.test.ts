import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import {
  AcknowledgeStopResponseSchema,
  GetStopSignalResponseSchema,
  StopRunResponseSchema,
  StopRunsResponseSchema,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput } from "../../route.ts";
import { inputOf } from "../route-input.fixture.ts";
import {
  decodeAcknowledgeStop,
  decodeGetStopSignal,
  decodeStopRun,
  decodeStopRuns,
  encodeAcknowledgeStop,
  encodeGetStopSignal,
  encodeStopRun,
  encodeStopRuns,
} from "./stop.ts";

type Body = RouteInput["body"];

const runId = "0c9b8a1e-1111-4222-8333-444455556666";
const other = "5b0c0000-0000-4000-8000-00000000000a";
const nil = "00000000-0000-0000-0000-000000000000";
const params = { run_id: runId.toUpperCase() };

describe("POST /api/runs/{run_id}/stop", () => {
  const nothing = { runId, idempotencyKey: "", bodyFault: undefined };
  test.each<[string, Body, object]>([
    ["nothing", {}, nothing],
    ["a reason, trimmed", { reason: " r " }, { ...nothing, reason: "r" }],
    ["a blank reason as none", { reason: " " }, nothing],
    ["a null reason as none", { reason: null }, nothing],
    ["a reason of 512 bytes", { reason: "é".repeat(256) }, { ...nothing, reason: "é".repeat(256) }],
  ])("reads %s", (_what, body, message) => {
    expect(decodeStopRun(inputOf({ params, body }))).toEqual(message);
  });

  test("reads the key", () => {
    expect(decodeStopRun(inputOf({ params, idempotencyKey: "k" }))).toMatchObject({ idempotencyKey: "k" });
  });

  test.each<[string, Body]>([
    ["513 bytes", { reason: `x${"é".repeat(256)}` }],
    ["a lone surrogate", { reason: "\ud800" }],
  ])("hands on the fault of a reason that is %s", (_what, body) => {
    const { bodyFault, reason } = decodeStopRun(inputOf({ params, body }));
    expect([bodyFault?.field, reason]).toEqual(["reason", undefined]);
  });
});

describe("POST /api/runs/stop", () => {
  test("reads ids of any kind in lower case, in order and with repeats", () => {
    const body = { run_ids: [params.run_id, nil, runId], reason: " r " };
    expect(decodeStopRuns(inputOf({ params: {}, body, idempotencyKey: "k" }))).toEqual({
      runIds: [runId, nil, runId],
      reason: "r",
      idempotencyKey: "k",
    });
  });

  test.each<[string, Body, string]>([
    ["no ids", {}, "run_ids"],
    ["null for ids", { run_ids: null }, "run_ids"],
    ["an empty list", { run_ids: [] }, "run_ids"],
    ["101 ids", { run_ids: Array.from({ length: 101 }, () => runId) }, "run_ids"],
    ["an id without hyphens", { run_ids: [runId.replaceAll("-", "")] }, "run_ids"],
    ["an id with blanks", { run_ids: [` ${runId}`] }, "run_ids"],
    ["null among the ids", { run_ids: [runId, null] }, "run_ids"],
    ["a reason that is not a text", { run_ids: [runId], reason: true }, "reason"],
  ])("refuses %s", (_what, body, field) => {
    expect(() => decodeStopRuns(inputOf({ body }))).toThrow(expect.objectContaining({ reason: "bad_request", field }));
  });

  test("takes 100 ids", () => {
    expect(
      decodeStopRuns(inputOf({ body: { run_ids: Array.from({ length: 100 }, () => runId) } })).runIds,
    ).toHaveLength(100);
  });
});

describe("POST /api/runs/{run_id}/stop-ack", () => {
  const good = { stop_request_id: other, state: "acknowledged" };
  const read = { runId, stopRequestId: other, state: "acknowledged", bodyFault: undefined };
  test.each<[string, Body, object]>([
    ["an acknowledgement", good, read],
    ["a completion", { ...good, state: "completed", message: " m " }, { ...read, state: "completed", message: "m" }],
    ["an id in capitals and blanks", { ...good, stop_request_id: ` ${other.toUpperCase()} ` }, read],
    [
      "a text that is not an id, as one that matches none",
      { ...good, stop_request_id: "x" },
      { ...read, stopRequestId: "" },
    ],
    ["an empty id likewise", { ...good, stop_request_id: "" }, { ...read, stopRequestId: "" }],
    ["a blank message as none", { ...good, message: " " }, read],
  ])("reads %s", (_what, body, message) => {
    expect(decodeAcknowledgeStop(inputOf({ params, body }))).toEqual(message);
  });

  test.each<[string, Body, string]>([
    ["no id", { state: "completed" }, "stop_request_id"],
    ["an id that is a number", { ...good, stop_request_id: 7 }, "stop_request_id"],
    ["no state", { stop_request_id: other }, "state"],
    ["another state", { ...good, state: "requested" }, "state"],
    ["a state that is not a text", { ...good, state: ["completed"] }, "state"],
  ])("hands on the fault of %s, and nothing else", (_what, body, field) => {
    expect(decodeAcknowledgeStop(inputOf({ params, body }))).toEqual({
      runId,
      bodyFault: { field, text: expect.any(String) },
    });
  });
});

const control = { stopState: "requested", displayStatus: "stopping", stopRequested: true, details: { reason: "r" } };

describe("answers", () => {
  test("of a stop carry flags, control and free texts", () => {
    const stop = { runId, alreadyRequested: true, runControl: control };
    const reply = encodeStopRun(create(StopRunResponseSchema, { stop, replayed: true }));
    expect(reply).toMatchObject({
      replayed: true,
      body: {
        ok: true,
        run_id: runId,
        already_requested: true,
        already_terminal: false,
        run_control: { stop_state: "requested", actor: null, reason: "r", completion_message: null },
      },
    });
  });

  test("of several stops carry the limit, and of a run that is not there no more than that", () => {
    const stops = [{ runId: other }, { runId, runControl: control, alreadyTerminal: true }];
    const { body } = encodeStopRuns(create(StopRunsResponseSchema, { stops }));
    expect(body).toMatchObject({ limit: 100, results: [{}, { ok: true, already_terminal: true }] });
    expect((body as { results: unknown[] }).results[0]).toEqual({
      ok: false,
      run_id: other,
      error: "not_found_or_unauthorized",
    });
  });

  test("of a poll say what to do and keep out of caches", () => {
    expect(decodeGetStopSignal(inputOf({ params }))).toEqual({ runId });
    const quiet = { runId, runStatus: "running", pollAfterSeconds: 15 };
    expect(encodeGetStopSignal(create(GetStopSignalResponseSchema, quiet))).toEqual({
      headers: { "cache-control": "private, no-store", pragma: "no-cache" },
      body: {
        run_id: runId,
        run_status: "running",
        terminal: false,
        stop_requested: false,
        poll_after_seconds: 15,
        stop_request: null,
      },
    });
    const pending = { stopRequestId: other, requestedAt: "2026-01-02T03:04:05Z" };
    expect(encodeGetStopSignal(create(GetStopSignalResponseSchema, { ...quiet, pending })).body).toMatchObject({
      stop_requested: true,
      stop_request: { stop_request_id: other, requested_at: "2026-01-02T03:04:05Z", acknowledged_at: null },
    });
    const ended = { ...quiet, runStatus: "finished" };
    expect(encodeGetStopSignal(create(GetStopSignalResponseSchema, ended)).body).toMatchObject({ terminal: true });
  });

  test("of an acknowledgement carry the control", () => {
    const { body } = encodeAcknowledgeStop(create(AcknowledgeStopResponseSchema, { runId, runControl: control }));
    expect(body).toMatchObject({ run_id: runId, run_control: { display_status: "stopping", reason: "r" } });
  });
});
