import { badRequest } from "@tidemark/errors";

/** The two streams of a console. */
export type LogStream = "stdout" | "stderr";

/** The stream of a run. */
export type LogSource = { readonly orgId: string; readonly runId: string; readonly stream: LogStream };

/** Reads a stream's name. @throws bad_request */
export function logStreamOf(name: string): LogStream {
  if (name === "stdout" || name === "stderr") return name;
  throw badRequest("stream must be stdout or stderr", "stream");
}
