import { isReason, type Reason } from "./reasons.ts";

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
