import { describe, expect, test } from "@jest/globals";
import { AppError, badRequest, notFound, reasons, type Reason } from "@tidemark/errors";
import { toErrorAnswer } from "./errors.ts";

const statuses: Record<Reason, number> = {
  bad_request: 400,
  invalid_run_id: 400,
  invalid_run_mode: 400,
  run_search_invalid: 400,
  run_search_too_broad: 400,
  object_explorer_invalid: 400,
  personal_workspace_invite_forbidden: 400,
  archive_invalid: 400,
  archive_incomplete: 400,
  payload_too_large: 413,
  range_not_satisfiable: 416,
  gone: 410,
  method_not_allowed: 405,
  not_implemented: 501,
  unauthenticated: 401,
  forbidden: 403,
  invite_email_mismatch: 403,
  payment_required: 402,
  plan_limit_exceeded: 402,
  not_found: 404,
  run_not_found: 404,
  invite_expired: 410,
  conflict: 409,
  run_id_conflict: 409,
  table_offset_mismatch: 409,
  resume_project_mismatch: 409,
  idempotency_key_reused: 409,
  idempotency_in_progress: 409,
  invite_already_member: 409,
  invite_already_pending: 409,
  invite_seat_limit_reached: 409,
  multiple_pending_invites: 409,
  rate_limit_exceeded: 429,
  api_request_monthly_limit_exceeded: 429,
  invite_resend_rate_limited: 429,
  embed_create_rate_limited: 429,
  slow_down: 429,
  warehouse_unavailable: 503,
  service_unavailable: 503,
  email_delivery_unavailable: 503,
  billing_unavailable: 503,
  deadline_exceeded: 503,
  internal: 500,
};

test.each(Object.entries(statuses))("the reason %s is answered with %i", (reason, status) => {
  expect(toErrorAnswer(new AppError(reason as Reason, "text")).status).toBe(status);
});

test("the table above names every reason there is", () => {
  expect(Object.keys(statuses).toSorted()).toEqual(Object.keys(reasons).toSorted());
});

describe("bodies", () => {
  test.each<[string, unknown, object]>([
    ["most errors have a text alone", notFound("run"), { error: "run not found" }],
    ["a field is named", badRequest("too long", "name"), { error: "too long", field: "name" }],
    [
      "a shown reason is the code, with field and position",
      new AppError("run_search_invalid", "bad", { field: "q", position: 3 }),
      { error: "bad", code: "run_search_invalid", field: "q", position: 3 },
    ],
    ["the text of an internal error is hidden", new AppError("internal", "select secret"), { error: "internal error" }],
    ["an unknown error is an internal one", new Error("secret"), { error: "internal error" }],
    ["something thrown that is not an error is an internal one", "secret", { error: "internal error" }],
    [
      "the text of an unavailable service is ours",
      new AppError("service_unavailable", "10.0.0.7 refused"),
      { error: "the service is not available at the moment; try again", code: "service_unavailable" },
    ],
    [
      "an unavailable data store keeps its code",
      new AppError("warehouse_unavailable", "pool"),
      { error: "the data store is not available at the moment; try again", code: "warehouse_unavailable" },
    ],
    [
      "a passed deadline is unavailability",
      new AppError("deadline_exceeded", "x"),
      { error: "the service is not available at the moment; try again", code: "service_unavailable" },
    ],
    [
      "a bad escape in the path",
      Object.assign(new Error("x"), { code: "FST_ERR_BAD_URL" }),
      { error: "the path has an invalid escape" },
    ],
  ])("%s", (_, error, body) => expect(toErrorAnswer(error).body).toEqual(body));
});

test.each<[string, AppError, number | undefined]>([
  ["503 always says when to retry", new AppError("service_unavailable", "x"), 1],
  ["503 keeps what the service said", new AppError("service_unavailable", "x", { retryAfterSeconds: 7 }), 7],
  ["429 keeps what the limit said", new AppError("rate_limit_exceeded", "x", { retryAfterSeconds: 3 }), 3],
  ["400 does not", badRequest("x"), undefined],
])("Retry-After: %s", (_, error, seconds) => expect(toErrorAnswer(error).retryAfterSeconds).toBe(seconds));

test.each([
  ["idempotency_key_reused", 400],
  ["idempotency_in_progress", 503],
  ["run_id_conflict", 409],
] as const)("%s is %d on a route that lists no 409", (reason, status) => {
  const error = new AppError(reason, "text");
  expect(toErrorAnswer(error, [200, 400]).status).toBe(status);
  expect(toErrorAnswer(error, [200, 409]).status).toBe(409);
});
