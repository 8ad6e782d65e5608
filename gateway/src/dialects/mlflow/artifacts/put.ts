import { badRequest } from "@tidemark/errors";
import type { Call } from "@tidemark/rpc";
import { guessType } from "../../../api/artifacts/media-types.ts";
import type { Clients } from "../../../clients.ts";
import { arriving } from "../../../gate/arrival.ts";
import { bodyTooLarge } from "../../../gate/read-body.ts";
import type { MlflowRoute } from "../route.ts";
import { requireOwner, stillWriting } from "./owner.ts";
import { type ArtifactPlace, readPlace } from "./place.rules.ts";

/** Most bytes of a file: the limit for an S3 object that is put as a whole. */
export const FILE_BYTES_MAX = 80 * 1024 ** 3;

const PATH_BYTES_MAX = { run: 512, model: 1024 } as const;

/**
 * PUT mlflow-artifacts/artifacts/{path}: the bytes of a file, which goes to the store while it arrives and takes the place of the one with its path. Nothing
 * is visible before the last byte.
 */
export const putFile: MlflowRoute["handle"] = async (
  { params, identity },
  clients,
  call,
  { request, objects, newCall },
) => {
  const place = readPlace(params["*"]!);
  const { owner, path } = place;
  if (path === "") throw badRequest("path must name a file", "path");
  const bytesMax = PATH_BYTES_MAX[owner.kind];
  if (Buffer.byteLength(path) > bytesMax) throw badRequest(`path must have at most ${bytesMax} bytes`, "path");
  const { "content-length": length, "content-encoding": encoding = "identity" } = request.headers;
  if (encoding.trim().toLowerCase() !== "identity") throw badRequest("a file must not have a content encoding");
  const announced = length === undefined ? undefined : Number(length);
  if (announced !== undefined && announced > FILE_BYTES_MAX) throw bodyTooLarge(FILE_BYTES_MAX, "a file");
  await requireOwner(clients, place, "write", call);
  const objectId = await reserve(clients, place, announced ?? 0, call);
  const key = objects.keyOf(identity!.orgId, objectId);
  const stored = await objects.put(key, arriving(request), announced === undefined ? {} : { size: announced });
  const object = { objectId, sizeBytes: BigInt(stored.sizeBytes), sha256: Buffer.from(stored.sha256, "hex") };
  await stillWriting(clients, place, newCall, (later): Promise<unknown> => {
    const mimeType = guessType(path);
    return owner.kind === "model"
      ? clients.models.storeModelFile({ modelId: owner.id, path, mimeType, object }, later)
      : clients.artifacts.storeArtifact(
          { runId: owner.id, artifact: { name: path, type: "file", mimeType }, object, replace: true },
          later,
        );
  });
  return { body: {}, ...(owner.kind === "run" ? { heartbeatRunIds: [owner.id] } : {}) };
};

/** Names the object that is about to be written. The storage quota has to admit what is announced. */
async function reserve(clients: Clients, { owner }: ArtifactPlace, announced: number, call: Call): Promise<string> {
  const bytes = BigInt(announced);
  const { objectIds } =
    owner.kind === "model"
      ? await clients.models.reserveModelObjects({ modelId: owner.id, count: 1, bytes }, call)
      : await clients.artifacts.reserveObjects({ owner: { case: "runId", value: owner.id }, count: 1, bytes }, call);
  return objectIds[0]!;
}
