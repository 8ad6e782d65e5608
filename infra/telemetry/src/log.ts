import pino from "pino";
import { censored, describeError, redactText, secretPaths } from "./redaction.ts";

/** The least severe level that is written; `silent` writes nothing. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/**
 * The fields of an entry besides its text. Names are snake_case; `request_id`, `trace_id` and `org_id` have that
 * meaning everywhere. An error goes under `error` and is written with its type, reason, code, stack and causes.
 */
export type LogFields = Readonly<Record<string, unknown>> & {
  readonly request_id?: string | undefined;
  readonly trace_id?: string | undefined;
  readonly org_id?: string | undefined;
  readonly error?: unknown;
};

/**
 * Structured log of a process. Every call writes at most one line of JSON before it returns, and never throws because
 * of its fields. The text is constant prose ("outbox relay failed"); values that vary belong in the fields.
 */
export type Log = {
  debug(text: string, fields?: LogFields): void;
  info(text: string, fields?: LogFields): void;
  warn(text: string, fields?: LogFields): void;
  error(text: string, fields?: LogFields): void;
  /** Returns the same log with `fields` on every entry. */
  child(fields: LogFields): Log;
};

export type LogOptions = {
  readonly level: LogLevel;
  /** Name of the process or module, on every entry. */
  readonly service: string;
  /** Where lines go, each with its line break; default standard output. */
  readonly destination?: { write(line: string): void };
};

/**
 * Creates the log of a process: one JSON object per line with `time` (RFC 3339, UTC), `level`, `service`, the fields, and
 * `message`.
 *
 * Lines are written synchronously, so that the last lines before a crash are not lost. Fields that are secrets by their name
 * (`authorization`, `password`, `token`, ...; see `secretPaths`) are censored down to the third level, and anything
 * that looks like a credential is censored everywhere: in texts, errors and nested strings.
 */
export function createLog(options: LogOptions): Log {
  const destination = options.destination ?? pino.destination({ fd: 1, sync: true });
  const root = pino(
    {
      level: options.level,
      base: { service: options.service },
      messageKey: "message",
      errorKey: "error",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      serializers: { error: describeError },
      redact: { paths: [...secretPaths], censor: censored },
      hooks: { streamWrite: redactText },
    },
    destination,
  );
  return wrap(root);
}

function wrap(logger: pino.Logger): Log {
  const write = (level: "debug" | "info" | "warn" | "error", text: string, fields: LogFields = {}): void => {
    try {
      logger[level](fields, text);
    } catch {
      // A getter or toJSON of a field threw. The work must go on even if it cannot be logged completely.
      logger[level]({ unloggable: true }, text);
    }
  };
  return {
    debug: (text, fields) => write("debug", text, fields),
    info: (text, fields) => write("info", text, fields),
    warn: (text, fields) => write("warn", text, fields),
    error: (text, fields) => write("error", text, fields),
    child: (fields) => wrap(logger.child(fields)),
  };
}
