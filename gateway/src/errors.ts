import { isAppError, reasons, type AppError, type ErrorMembers, type Reason, type RpcCode } from "@tidemark/errors";

/** The body of every error (API specification, Errors). A refusal by the monthly allowance has more members. */
export type ErrorBody = ErrorMembers & {
  readonly error: string;
  readonly code?: string;
  readonly field?: string;
  readonly position?: number;
};

/** How an error is answered. */
export type ErrorAnswer = {
  readonly status: number;
  readonly body: ErrorBody;
  /** Value of `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
};

const statusByReason: Partial<Record<Reason, number>> = {
  payment_required: 402,
  plan_limit_exceeded: 402,
  method_not_allowed: 405,
  not_implemented: 501,
  gone: 410,
  invite_expired: 410,
  payload_too_large: 413,
  range_not_satisfiable: 416,
};

const statusByCode: Record<RpcCode, number> = {
  invalid_argument: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  already_exists: 409,
  aborted: 409,
  failed_precondition: 400,
  out_of_range: 400,
  resource_exhausted: 429,
  unavailable: 503,
  deadline_exceeded: 503,
  // A peer of an older version during an upgrade: the next attempt may reach a newer one.
  unimplemented: 503,
  internal: 500,
};

const unavailableTexts: Partial<Record<Reason, string>> = {
  warehouse_unavailable: "the data store is not available at the moment; try again",
  email_delivery_unavailable: "e-mail cannot be sent at the moment; try again",
  billing_unavailable: "this installation takes no payments; ask its operator for another plan",
};

/** Statuses that replace 409 on routes that do not list it. */
const statusWithoutConflict: Partial<Record<Reason, number>> = {
  idempotency_key_reused: 400,
  idempotency_in_progress: 503,
};

/**
 * Returns how an error is answered: by its reason first, otherwise by its RPC code. No other code knows HTTP statuses.
 * Texts of 5xx answers are made here, never taken from the error. Anything that is not an AppError is a 500.
 * `listed` are the statuses that the route documents.
 */
export function toErrorAnswer(error: unknown, listed?: readonly number[]): ErrorAnswer {
  const known = isAppError(error) ? error : fromFramework(error);
  if (known === undefined) return internalError;
  const { rpc, shown } = reasons[known.reason];
  const usual = statusByReason[known.reason] ?? statusByCode[rpc];
  const replaced = usual === 409 && listed?.includes(409) === false;
  const status = replaced ? (statusWithoutConflict[known.reason] ?? usual) : usual;
  if (status === 500) return internalError;
  if (status === 503) return unavailable(known, shown);
  return {
    status,
    body: {
      error: known.message,
      ...(shown ? { code: known.reason } : {}),
      ...(known.field === undefined ? {} : { field: known.field }),
      ...(known.position === undefined ? {} : { position: known.position }),
      ...known.members,
    },
    retryAfterSeconds: known.retryAfterSeconds,
  };
}

const internalError: ErrorAnswer = { status: 500, body: { error: "internal error" }, retryAfterSeconds: undefined };

function unavailable(error: Pick<AppError, "reason" | "retryAfterSeconds">, shown: boolean): ErrorAnswer {
  return {
    status: 503,
    body: {
      error: unavailableTexts[error.reason] ?? "the service is not available at the moment; try again",
      code: shown ? error.reason : "service_unavailable",
    },
    retryAfterSeconds: error.retryAfterSeconds ?? 1,
  };
}

/** Refusals of the HTTP framework by its error codes. */
function fromFramework(error: unknown): Framework | undefined {
  const code = String((error as { code?: unknown } | null)?.code);
  return frameworkErrors[code];
}

type Framework = Pick<AppError, "reason" | "message" | "field" | "position" | "retryAfterSeconds" | "members">;

const refused = (reason: Reason, message: string): Framework => ({
  reason,
  message,
  field: undefined,
  position: undefined,
  retryAfterSeconds: undefined,
  members: undefined,
});

const frameworkErrors: Readonly<Record<string, Framework>> = {
  FST_ERR_BAD_URL: refused("bad_request", "the path has an invalid escape"),
  FST_ERR_MAX_PARAM_LENGTH: refused("not_found", "route not found"),
  FST_ERR_NOT_FOUND: refused("not_found", "route not found"),
};
