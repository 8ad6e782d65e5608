import type { DialectError } from "../../route.ts";
import type { ErrorAnswer } from "../../errors.ts";

/** The codes of errors that clients of MLflow act on. */
export type MlflowCode =
  | "INVALID_PARAMETER_VALUE"
  | "RESOURCE_ALREADY_EXISTS"
  | "RESOURCE_DOES_NOT_EXIST"
  | "ENDPOINT_NOT_FOUND"
  | "UNAUTHENTICATED"
  | "PERMISSION_DENIED"
  | "REQUEST_LIMIT_EXCEEDED"
  | "TEMPORARILY_UNAVAILABLE"
  | "INTERNAL_ERROR"
  | "NOT_IMPLEMENTED";

/** Codes by status; any other status below 500 is INVALID_PARAMETER_VALUE. */
const codes: Readonly<Record<number, MlflowCode>> = {
  401: "UNAUTHENTICATED",
  402: "PERMISSION_DENIED",
  403: "PERMISSION_DENIED",
  404: "RESOURCE_DOES_NOT_EXIST",
  409: "RESOURCE_ALREADY_EXISTS",
  410: "RESOURCE_DOES_NOT_EXIST",
  429: "REQUEST_LIMIT_EXCEEDED",
  500: "INTERNAL_ERROR",
  501: "NOT_IMPLEMENTED",
  503: "TEMPORARILY_UNAVAILABLE",
};

/** Statuses that MLflow has others for. Its clients find a name that is taken by the code alone. */
const statuses: Readonly<Record<number, number>> = { 409: 400, 410: 404 };

/**
 * Writes an error as `{error_code, message}`. Without a route it is ENDPOINT_NOT_FOUND, after which clients try an older route. The monthly allowance is
 * 403: clients repeat a request that got 429, and would hold the training for minutes.
 */
export function writeMlflowError({ status, body }: ErrorAnswer, hasRoute: boolean): DialectError {
  const isMonthly = body.code === "api_request_monthly_limit_exceeded";
  const shown = isMonthly ? 403 : (statuses[status] ?? status);
  const isUnknown = !hasRoute && (status === 404 || status === 405);
  const code = isUnknown ? "ENDPOINT_NOT_FOUND" : (codes[isMonthly ? 403 : status] ?? "INVALID_PARAMETER_VALUE");
  return { status: shown, body: JSON.stringify({ error_code: code, message: body.error }) };
}
