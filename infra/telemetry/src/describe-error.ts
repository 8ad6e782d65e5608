/** An error as it is logged. `cause` is described the same way, five levels deep at most. */
export type ErrorDescription = {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  /** The reason of an application error. */
  readonly reason?: string;
  /** A system or SQLSTATE code. */
  readonly code?: string;
  readonly cause?: unknown;
};

const causesMax = 5;

/**
 * Describes whatever was thrown. Only a fixed set of properties is taken: others may hold rows, statements or request
 * bodies (`detail` of a PostgreSQL error quotes the row). What is no error is written as text.
 */
export function describeError(thrown: unknown, depth = 0): ErrorDescription {
  // By shape: errors come from other realms and from several copies of a package.
  if (typeof thrown !== "object" || thrown === null || !("message" in thrown))
    return { type: typeof thrown, message: describeValue(thrown) };
  const { name, message, stack, reason, code, cause } = thrown as Record<string, unknown>;
  return {
    type: typeof name === "string" ? name : "Error",
    message: describeValue(message),
    ...(typeof stack === "string" && { stack }),
    ...(typeof reason === "string" && { reason }),
    ...((typeof code === "string" || typeof code === "number") && { code: String(code) }),
    ...(cause !== undefined && depth < causesMax && { cause: describeError(cause, depth + 1) }),
  };
}

function describeValue(value: unknown): string {
  return typeof value === "object" && value !== null ? Object.prototype.toString.call(value) : String(value);
}
