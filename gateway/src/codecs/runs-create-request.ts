import type { MessageInitShape } from "@bufbuild/protobuf";
import { AppError, badRequest } from "@tidemark/errors";
import type { CreateRunRequestSchema } from "@tidemark/proto/runs/v1/runs";
import type { RouteInput } from "../route.ts";
import { canonicalUuid, present, readDocument, readOptionalText, readTextList, type Fields } from "./fields.ts";

const MODES: readonly string[] = ["create", "auto", "resume"];

const utf8 = new TextEncoder();

/**
 * POST /runs. Mode and id are judged before the other fields, because clients tell those two faults
 * apart by their codes.
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
// keep a training from starting, so what cannot be stored is replaced.
function documentBytes(body: Fields, name: string): Uint8Array {
  return utf8.encode(readDocument(body, name, { unstorable: "replace" }));
}
