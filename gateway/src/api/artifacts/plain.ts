import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { ARTIFACTS_ROWS, ARTIFACT_TYPES } from "@tidemark/limits";
import type {
  ArtifactInputSchema,
  CreateArtifactRequestSchema,
  CreateArtifactResponse,
  DeleteArtifactRequestSchema,
  DeleteArtifactResponse,
  ListArtifactsRequestSchema,
  ListArtifactsResponse,
  LocateArtifactRequestSchema,
  LocateArtifactResponse,
} from "@tidemark/proto/artifacts/v1/artifacts";
import type { RouteInput, RouteReply } from "../../route.ts";
import { documentBytes } from "../fields/document.ts";
import {
  described,
  isObject,
  join,
  object,
  optional,
  present,
  readField,
  required,
  withDefault,
  withFault,
  type Fields,
} from "../fields/field.ts";
import { integer, limit, step } from "../fields/number.ts";
import { queryText, requireText, text, textOrAbsent } from "../fields/text.ts";
import { requireMessage } from "../replies.ts";
import { pathRunId } from "../runs/read.ts";
import { guessType, mimeType } from "./media-types.ts";
import { artifactJson } from "./rows.ts";

const type = described(
  withDefault(text(), ARTIFACT_TYPES[0]),
  `One of ${ARTIFACT_TYPES.join(", ")}. Another one is stored as ${ARTIFACT_TYPES[0]} and kept as metadata.artifact_type.`,
  { default: ARTIFACT_TYPES[0] },
);
const metadata = documentBytes();

/** What clients say about any artifact. */
export const artifactFacts = object({
  name: text(),
  type,
  step: optional(step()),
  mime_type: mimeType,
  metadata,
});

const SHA_BYTES_MAX = 512;

/** A text that is stored as it was sent. */
const sha256 = optional(
  required({ type: "string", pattern: `^[^\\u0000]{0,${SHA_BYTES_MAX}}$` }, (value, name) => {
    if (typeof value !== "string") throw badRequest(`${name} must be a text`, name);
    if (value.trim() !== "") requireText(value, name, { bytesMax: SHA_BYTES_MAX });
    return value;
  }),
);

const reference = object({
  path: described(textOrAbsent(), "Stands for `uri` where there is none; not kept otherwise."),
  uri: described(textOrAbsent(), "Where the bytes are. Default: `path`, otherwise `name`."),
  size_bytes: optional(integer({ min: 0 })),
  sha256,
});

/** Body of POST /api/runs/{run_id}/artifacts. */
export const createArtifactBody = join(artifactFacts, reference);

/** Reads what a body says about an artifact. @throws bad_request */
export function readArtifactFacts(body: Fields): MessageInitShape<typeof ArtifactInputSchema> {
  const facts = artifactFacts.read(body);
  const known = ARTIFACT_TYPES.find((one) => one === facts.type);
  return {
    name: facts.name,
    type: known ?? ARTIFACT_TYPES[0],
    step: facts.step,
    mimeType: facts.mimeType || guessType(facts.name),
    metadataJson: known === undefined ? withType(body, facts.type) : facts.metadata,
  };
}

/** Returns the metadata of a body with the type that it was sent with. */
function withType(body: Fields, sent: string): Uint8Array {
  const given = present(body, "metadata");
  const document = { ...(isObject(given) ? given : {}), artifact_type: sent };
  return readField(metadata, { metadata: document }, "metadata");
}

/** POST /api/runs/{run_id}/artifacts. Faults of the body travel in the message, because a missing run takes precedence. */
export function decodeCreateArtifact(input: RouteInput): MessageInitShape<typeof CreateArtifactRequestSchema> {
  const runId = pathRunId(input);
  const { value, fault } = withFault(() => ({
    artifact: readArtifactFacts(input.body),
    ...reference.read(input.body),
  }));
  if (value === undefined) return { runId, bodyFault: fault };
  const { artifact, path, uri, sizeBytes, sha256: hash } = value;
  return {
    runId,
    artifact,
    uri: uri ?? path ?? artifact.name!,
    sizeBytes: sizeBytes === undefined ? undefined : BigInt(sizeBytes),
    sha256: hash,
  };
}

/** `{"artifact": row}` */
export function encodeArtifact(response: Pick<CreateArtifactResponse, "artifact">): RouteReply {
  return { body: { artifact: artifactJson(requireMessage(response.artifact)) } };
}

/** Query of GET /api/runs/{run_id}/artifacts. */
export const listArtifactsQuery = object({
  limit: limit(ARTIFACTS_ROWS),
  cursor: queryText({ description: "`next_cursor` of the page before." }),
});

/** GET /api/runs/{run_id}/artifacts. Faults of the query travel in the message. */
export function decodeListArtifacts(input: RouteInput): MessageInitShape<typeof ListArtifactsRequestSchema> {
  const { value, fault } = withFault(() => listArtifactsQuery.read(input.query));
  return { runId: pathRunId(input), ...value, queryFault: fault };
}

/** `{"artifacts": [row, …], "next_cursor", "truncated"}`, newest first; `truncated` says that there are more. */
export function encodeListArtifacts({ artifacts, nextCursor }: ListArtifactsResponse): RouteReply {
  const truncated = nextCursor !== "";
  return { body: { artifacts: artifacts.map(artifactJson), next_cursor: truncated ? nextCursor : null, truncated } };
}

/** GET /api/artifacts/{artifact_id}/download. */
export function decodeLocateArtifact({ params }: RouteInput): MessageInitShape<typeof LocateArtifactRequestSchema> {
  return { artifactId: params["artifact_id"]! };
}

/** The bytes. */
export function encodeLocation({
  objectId,
  sizeBytes,
  mimeType: type,
  name,
}: Omit<LocateArtifactResponse, "$typeName">): RouteReply {
  return { body: null, file: { objectId, sizeBytes: Number(sizeBytes), mimeType: type, name } };
}

/** DELETE /api/artifacts/{artifact_id}. */
export function decodeDeleteArtifact({ params }: RouteInput): MessageInitShape<typeof DeleteArtifactRequestSchema> {
  return { artifactId: params["artifact_id"]! };
}

/** `{"deleted": true, "artifact": row}`, the row as it was. */
export function encodeDeleteArtifact({ artifact }: DeleteArtifactResponse): RouteReply {
  return { body: { deleted: true, artifact: artifactJson(requireMessage(artifact)) } };
}
