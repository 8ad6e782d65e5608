import type { MessageInitShape } from "@bufbuild/protobuf";
import { AppError, badRequest } from "@tidemark/errors";
import type { CreateRunRequestSchema, CreateRunResponse } from "@tidemark/proto/runs/v1/runs";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { canonicalUuid, present, readDocument, readOptionalText, readTextList, type Fields } from "../fields/index.ts";
import { requireMessage } from "../replies.ts";
import { textOrNullSchema, uuidOrNullSchema } from "../schemas.ts";
import { runJson } from "./rows.ts";

const MODES: readonly string[] = ["create", "auto", "resume"];

/** Body of POST /runs. */
export const createRunSchema: Schema = {
  type: "object",
  properties: {
    id: { ...uuidOrNullSchema, description: "An id of the client's choice; what makes a repeat recognisable." },
    mode: {
      type: ["string", "null"],
      enum: ["create", "auto", "resume", "", null],
      description:
        "create: a new run, or the one that this very request made before. auto: a new run, or the one with this id as it is. " +
        "resume: the run with this id, running again.",
    },
    project: {
      ...textOrNullSchema,
      description: "Made if it is missing; default: `default`, or the key's own project.",
    },
    name: { ...textOrNullSchema, description: "Default: two words and the run's number in the project." },
    config: { type: ["object", "null"], additionalProperties: true },
    tags: { type: ["array", "null"], items: { type: "string", minLength: 1 } },
    metadata: { type: ["object", "null"], additionalProperties: true },
  },
};

/**
 * POST /runs. Mode and id are judged before the other fields, because clients tell those two faults
Mode and id are checked before the other fields, because clients recognize those two faults
 * @throws invalid_run_mode, invalid_run_id, bad_request
 */
export function decodeCreateRun({ body }: RouteInput): MessageInitShape<typeof CreateRunRequestSchema> {
  const mode = readMode(body);
  const id = readId(body);
  const project = readOptionalText(body, "project", { blank: "absent" });
  const name = readOptionalText(body, "name", { blank: "absent" });
  return {
    mode,
    ...(id === undefined ? {} : { id }),
    ...(project === undefined ? {} : { project }),
    ...(name === undefined ? {} : { name }),
    configJson: documentBytes(body, "config"),
    tags: readTextList(body, "tags") ?? [],
    metadataJson: documentBytes(body, "metadata"),
  };
}

function readMode(body: Fields): string {
  const mode = readOptionalText(body, "mode", { blank: "absent" }) ?? "create";
  if (MODES.includes(mode)) return mode;
  throw new AppError("invalid_run_mode", `mode must be one of ${MODES.join(", ")}`, { field: "mode" });
}

function readId(body: Fields): string | undefined {
  const value = present(body, "id");
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw badRequest("id must be a text", "id");
  const id = canonicalUuid(value);
  if (id === undefined) throw new AppError("invalid_run_id", "id must be a canonical UUID", { field: "id" });
  return id;
}

// A file name that is no valid text may stand in what clients record about themselves; it must not
// Clients record file names, which need not be valid text. They must not keep a training from starting,
function documentBytes(body: Fields, name: string): Uint8Array {
  return utf8.encode(readDocument(body, name, { unstorable: "replace" }));
}

/** `{run, created}` with the run row. */
export function encodeCreateRun({ run, created }: CreateRunResponse): RouteReply {
  return { body: { run: runJson(requireMessage(run)), created } };
}

const utf8 = new TextEncoder();
