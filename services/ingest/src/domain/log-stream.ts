import { badRequest } from "@tidemark/errors";

/** The two streams of a console. */
export type LogStream = "stdout" | "stderr";

/** Reads a stream's name. @throws bad_request */
export function logStreamOf(name: string): LogStream {
  if (name === "stdout" || name === "stderr") return name;
  throw badRequest("stream must be stdout or stderr", "stream");
}
