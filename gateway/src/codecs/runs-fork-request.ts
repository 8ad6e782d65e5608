import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ForkRunRequestSchema } from "@tidemark/proto/runs/v1/runs";
import type { RouteInput } from "../route.ts";
import {
  readDocument,
  readOptionalBoolean,
  readOptionalStep,
  readOptionalText,
  readOptionalUuid,
  readTextList,
  withFault,
  type Fields,
} from "./fields.ts";
import { pathRunId } from "./runs-get-request.ts";

type Request = MessageInitShape<typeof ForkRunRequestSchema>;

const utf8 = new TextEncoder();

/** POST /api/runs/{run_id}/forks. Faults of the body travel with the request, because a missing run goes first. */
export function decodeForkRun(input: RouteInput): Request {
  const base = { runId: pathRunId(input), idempotencyKey: input.idempotencyKey ?? "" };
  const { value, fault } = withFault(() => readFork(input.body));
  return fault === undefined ? { ...base, ...value } : { ...base, bodyFault: fault };
}

function readFork(body: Fields): Request {
  const name = readOptionalText(body, "name", { blank: "absent" });
  const step = readOptionalStep(body, "step");
  const checkpointArtifactId = readOptionalUuid(body, "checkpoint_artifact_id");
  const inheritConfig = readOptionalBoolean(body, "inherit_config");
  const notes = readOptionalText(body, "notes");
  return {
    ...(name === undefined ? {} : { name }),
    ...(step === undefined ? {} : { step }),
    ...(checkpointArtifactId === undefined ? {} : { checkpointArtifactId }),
    ...(inheritConfig === undefined ? {} : { inheritConfig }),
    ...(notes === undefined ? {} : { notes }),
    configOverridesJson: documentBytes(body, "config_overrides"),
    tags: readTextList(body, "tags") ?? [],
    metadataJson: documentBytes(body, "metadata"),
  };
}

function documentBytes(body: Fields, name: string): Uint8Array {
  return utf8.encode(readDocument(body, name, { unstorable: "replace" }));
}
