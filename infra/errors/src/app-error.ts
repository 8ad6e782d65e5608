/** Details that an error may carry besides its reason and text. */
export type AppErrorDetails = {
  /** The request field at fault, as the client names it. */
  field?: string;
  /** 1-based: the column in that field, for search texts; the number of the line, for archives. */
  position?: number;
  /** The number of seconds after which a retry makes sense. */
  retryAfterSeconds?: number;
  /** More members of the error's body. They do not travel between processes. */
  members?: ErrorMembers;
  /** The original error; logged, never sent. */
  cause?: unknown;
};

/** Members of an error's body besides the usual ones. */
export type ErrorMembers = Readonly<Record<string, string | number>>;

/**
 * An error whose text may be shown to the caller. Services throw only this error on purpose; every
 * other error is reported as `internal`, and its text is hidden.
 */
export class AppError extends Error {
  readonly reason: Reason;
  readonly field: string | undefined;
  readonly position: number | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly members: ErrorMembers | undefined;

  constructor(reason: Reason, publicText: string, details: AppErrorDetails = {}) {
    super(publicText, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "AppError";
    this.reason = reason;
    this.field = details.field;
    this.position = details.position;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.members = details.members;
  }
}

/** Recognizes an AppError by its shape, so that two copies of this package understand each other. */
export function isAppError(error: unknown): error is AppError {
  return (
    typeof error === "object" &&
    error !== null &&
    (error as { name?: unknown }).name === "AppError" &&
    isReason(String((error as { reason?: unknown }).reason))
  );
}

/** Makes a 400 without a code: the request breaks the rule that `publicText` names. */
export function badRequest(publicText: string, field?: string): AppError {
  return new AppError("bad_request", publicText, field === undefined ? {} : { field });
}

/** Makes a 404. Its text is the same for things that are missing and things that the caller may not see. */
export function notFound(what: string): AppError {
  return new AppError("not_found", `${what} not found`);
}

/** Makes a 410: it was there, the caller may know that, and it will not return. */
export function gone(what: string): AppError {
  return new AppError("gone", `${what} is gone`);
}

/** The canonical RPC codes that Tidemark uses, by their gRPC names (https://grpc.io/docs/guides/status-codes). */
export type RpcCode =
  | "invalid_argument"
  | "unauthenticated"
  | "permission_denied"
  | "not_found"
  | "already_exists"
  | "aborted"
  | "failed_precondition"
  | "out_of_range"
  | "resource_exhausted"
  | "unavailable"
  | "deadline_exceeded"
  | "unimplemented"
  | "internal";

type ReasonFacts = {
  /** The RPC code that carries the reason between processes. */
  rpc: RpcCode;
  /** Whether clients see the reason as `code` in the error body. Most errors have only a text. */
  shown: boolean;
};

const hidden = (rpc: RpcCode): ReasonFacts => ({ rpc, shown: false });
const shown = (rpc: RpcCode): ReasonFacts => ({ rpc, shown: true });

/**
 * Every reason for which a service may refuse a request. Reasons are stable, texts are not.
 * Shown reasons appear as `code` in error bodies (API specification, Errors).
 */
export const reasons = {
  bad_request: hidden("invalid_argument"),
  invalid_run_id: shown("invalid_argument"),
  invalid_run_mode: shown("invalid_argument"),
  run_search_invalid: shown("invalid_argument"),
  run_search_too_broad: shown("invalid_argument"),
  object_explorer_invalid: shown("invalid_argument"),
  personal_workspace_invite_forbidden: shown("invalid_argument"),
  archive_invalid: shown("invalid_argument"),
  archive_incomplete: shown("invalid_argument"),

  // Only the gateway finds these, before it calls a service.
  payload_too_large: hidden("out_of_range"),
  range_not_satisfiable: hidden("out_of_range"),
  method_not_allowed: hidden("unimplemented"),
  not_implemented: hidden("unimplemented"),

  unauthenticated: hidden("unauthenticated"),
  forbidden: hidden("permission_denied"),
  invite_email_mismatch: shown("permission_denied"),

  payment_required: shown("failed_precondition"),
  plan_limit_exceeded: shown("failed_precondition"),

  not_found: hidden("not_found"),
  gone: hidden("not_found"),
  run_not_found: shown("not_found"),
  invite_expired: shown("not_found"),

  conflict: hidden("aborted"),
  run_id_conflict: shown("already_exists"),
  table_offset_mismatch: shown("aborted"),
  resume_project_mismatch: shown("aborted"),
  idempotency_key_reused: shown("already_exists"),
  idempotency_in_progress: shown("aborted"),
  invite_already_member: shown("already_exists"),
  invite_already_pending: shown("already_exists"),
  invite_seat_limit_reached: shown("aborted"),
  multiple_pending_invites: shown("aborted"),

  rate_limit_exceeded: shown("resource_exhausted"),
  api_request_monthly_limit_exceeded: shown("resource_exhausted"),
  invite_resend_rate_limited: shown("resource_exhausted"),
  embed_create_rate_limited: shown("resource_exhausted"),
  slow_down: shown("resource_exhausted"),

  warehouse_unavailable: shown("unavailable"),
  service_unavailable: shown("unavailable"),
  email_delivery_unavailable: shown("unavailable"),
  billing_unavailable: shown("unavailable"),
  deadline_exceeded: hidden("deadline_exceeded"),
  internal: hidden("internal"),
} as const satisfies Record<string, ReasonFacts>;

/** A reason of the registry. */
export type Reason = keyof typeof reasons;

/** Returns whether a text from the wire is a known reason. */
export function isReason(text: string): text is Reason {
  return Object.hasOwn(reasons, text);
}
