import type { MessageInitShape } from "@bufbuild/protobuf";
import { AppError, badRequest } from "@tidemark/errors";
import type { CreateRunRequestSchema, CreateRunResponse } from "@tidemark/proto/runs/v1/runs";
import type { RouteInput, RouteReply } from "../../route.ts";
import { documentBytes } from "../fields/document.ts";
import { described, list, object, optional, required, withDefault, type Field } from "../fields/field.ts";
import { canonicalUuid, text, textOrAbsent, textOrEmpty, uuid } from "../fields/text.ts";
import { requireMessage } from "../replies.ts";
import { runJson } from "./rows.ts";

const MODES: readonly string[] = ["create", "auto", "resume"];

const anyMode = textOrEmpty();
const mode: Field<string> = {
  ...anyMode,
  schema: {
    type: ["string", "null"],
    enum: [...MODES, "", null],
    default: "create",
    description:
      "create: a new run, or the one that this very request created before. auto: a new run, or the one with this id as it is. " +
      "resume: the run with this id, running again.",
  },
  check: (value, name) => {
    const sent = anyMode.check(value, name) || "create";
    if (MODES.includes(sent)) return sent;
    throw new AppError("invalid_run_mode", `${name} must be one of ${MODES.join(", ")}`, { field: name });
  },
  absent: () => "create",
};

const id = described(
  optional(
    required(uuid().schema, (value, name) => {
      if (typeof value !== "string") throw badRequest(`${name} must be a text`, name);
      const canonical = canonicalUuid(value);
      if (canonical === undefined) {
        throw new AppError("invalid_run_id", `${name} must be a canonical UUID`, { field: name });
      }
      return canonical;
    }),
  ),
  "An id of the client's choice, by which a repeat is recognized. Required by the mode resume.",
);

/**
 * Body of POST /runs. Mode and id are checked before the other fields, because clients recognize those two faults
 * by their codes.
 */
export const createRunBody = object(
  {
    mode,
    id,
    project: described(textOrAbsent(), "Created if it is missing; default: `default`, or the key's own project."),
    name: described(textOrAbsent(), "Default: two words and the run's number in the project."),
    config: documentBytes(),
    tags: withDefault(list(text()), []),
    metadata: documentBytes(),
  },
  {
    anyOf: [
      { properties: { mode: { not: { const: "resume" } } } },
      { required: ["id"], properties: { id: { type: "string" } } },
    ],
  },
);

/** POST /runs. @throws invalid_run_mode, invalid_run_id, bad_request */
export function decodeCreateRun({ body }: RouteInput): MessageInitShape<typeof CreateRunRequestSchema> {
  const { config, metadata, ...rest } = createRunBody.read(body);
  return { ...rest, configJson: config, metadataJson: metadata };
}

/** `{run, created}` with the run row. */
export function encodeCreateRun({ run, created }: CreateRunResponse): RouteReply {
  const row = requireMessage(run);
  // A new run counts as alive without a heartbeat.
  return { body: { run: runJson(row), created }, ...(created ? {} : { heartbeatRunIds: [row.id] }) };
}
