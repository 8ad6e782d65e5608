import type { StoreArtifactResponse } from "@tidemark/proto/artifacts/v1/artifacts";
import type { Clients } from "../../clients.ts";
import { BODY_BYTES_MAX } from "../../gate/read-body.ts";
import type { RouteInput, RouteReply, Schema, HandlerContext } from "../../route.ts";
import type { Call } from "@tidemark/rpc";
import { join, object, readField, withFault } from "../fields/field.ts";
import { pathRunId } from "../runs/read.ts";
import { contentField, receiveObjects, writtenObject } from "./contents.ts";
import { artifactFacts, encodeArtifact, readArtifactFacts } from "./plain.ts";

/** Body of POST /api/runs/{run_id}/artifacts/upload. Size and hash that a client sends are ignored. */
export const storeArtifactBody: { readonly schema: Schema } = join(
  artifactFacts,
  object({ content_base64: contentField([]) }),
);

/**
 * POST /api/runs/{run_id}/artifacts/upload. The content goes to the store while the body arrives. Faults of fields travel in the message, because a missing
 * run takes precedence.
 */
export async function handleStoreArtifact(
  input: RouteInput,
  clients: Clients,
  _call: Call,
  context: HandlerContext,
): Promise<RouteReply> {
  const runId = pathRunId(input);
  const { body, contents } = await receiveObjects(
    input,
    clients,
    context,
    { case: "runId", value: runId },
    { path: ["content_base64"], restBytesMax: BODY_BYTES_MAX },
  );
  const { value, fault } = withFault(() => ({
    artifact: readArtifactFacts(body),
    content: readField(contentField(contents.all), body, "content_base64"),
  }));
  if (value === undefined) {
    await contents.abandon();
    return encodeStored(await clients.artifacts.storeArtifact({ runId, bodyFault: fault }, await context.newCall()));
  }
  await contents.finish();
  const request = {
    runId,
    artifact: value.artifact,
    object: writtenObject(value.content),
    idempotencyKey: input.idempotencyKey ?? "",
  };
  return encodeStored(await clients.artifacts.storeArtifact(request, await context.newCall()));
}

/** `{"artifact": row}` */
function encodeStored(response: StoreArtifactResponse): RouteReply {
  return { ...encodeArtifact(response), replayed: response.replayed };
}
