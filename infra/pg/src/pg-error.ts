import { AppError, isAppError, isReason } from "@tidemark/errors";

type PgFields = { code?: unknown; message?: unknown; hint?: unknown; column?: unknown };

const NETWORK = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EHOSTUNREACH", "ENOENT"]);
const LOST =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after|not queryable|server closed the connection/;

/** Returns the SQLSTATE or system code of an error, or an empty text. */
export function sqlState(error: unknown): string {
  const code = (error as PgFields | null)?.code;
  return typeof code === "string" ? code : "";
}

/** Returns whether the server ends the connection with this error (class 57P: shutdowns, and sessions that an operator ends). */
export function endsSession(error: unknown): boolean {
  return sqlState(error).startsWith("57P");
}

/** Whether the database cannot work: it is down, starting, read-only or out of connections. */
function isUnavailable(error: unknown): boolean {
  const code = sqlState(error);
  if (NETWORK.has(code) || code === "25006") return true;
  if (/^(08|53|57P0)/.test(code) && code !== "57014") return true;
  const text = (error as PgFields | null)?.message;
  return code === "" && typeof text === "string" && LOST.test(text);
}

/**
 * Turns a driver error into one that a caller may see. SQLSTATE class `TM` belongs to Tidemark: a
 * function raised it with a reason as message and the public text as hint. Unknown errors are returned
 * unchanged and are reported as internal.
 */
export function toAppError(error: unknown): unknown {
  if (isAppError(error)) return error;
  if (isUnavailable(error)) {
    return new AppError("warehouse_unavailable", "the database is not available; try again", {
      retryAfterSeconds: 1,
      cause: error,
    });
  }
  const { message, hint, column } = error as PgFields;
  const code = sqlState(error);
  if (code.startsWith("TM") && isReason(String(message))) {
    return new AppError(String(message) as "bad_request", typeof hint === "string" ? hint : String(message), {
      ...(typeof column === "string" && column !== "" ? { field: column } : {}),
      cause: error,
    });
  }
  switch (code) {
    case "55P03":
    case "57014":
    case "40001":
    case "40P01":
      return new AppError("service_unavailable", "the request could not be completed in time; try again", {
        retryAfterSeconds: 1,
        cause: error,
      });
    case "22021":
    case "22P05":
      return new AppError("bad_request", "text must not contain NUL or unpaired surrogates", { cause: error });
    default:
      return error;
  }
}
