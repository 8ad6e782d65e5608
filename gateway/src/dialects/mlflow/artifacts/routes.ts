import { AppError } from "@tidemark/errors";
import type { Route } from "../../../route.ts";
import { mlflowRoute, type MlflowRoute } from "../route.ts";
import { listArtifacts, listArtifactsOfRun } from "./list.ts";
import { requireOwner } from "./owner.ts";
import { readPlace } from "./place.rules.ts";
import { FILE_BYTES_MAX, putFile } from "./put.ts";

/** GET mlflow-artifacts/artifacts/{path}: the bytes of a file, or a part of them. */
const getFile: MlflowRoute["handle"] = async ({ params }, clients, call) => {
  const place = readPlace(params["*"]!);
  await requireOwner(clients, place, "read", call);
  const { owner, path } = place;
  const { objectId, sizeBytes, mimeType } =
    owner.kind === "model"
      ? await clients.models.locateModelFile({ modelId: owner.id, path }, call)
      : await clients.artifacts.locateFile({ runId: owner.id, name: path }, call);
  return { body: null, file: { objectId, sizeBytes: Number(sizeBytes), mimeType, name: path } };
};

/** DELETE mlflow-artifacts/artifacts/{path}: a file, or a folder with all that is in it; what is missing counts as deleted. */
const deleteFiles: MlflowRoute["handle"] = async ({ params }, clients, call) => {
  const place = readPlace(params["*"]!);
  await requireOwner(clients, place, "write", call);
  const { owner, path } = place;
  if (owner.kind === "model") await clients.models.deleteModelFiles({ modelId: owner.id, path }, call);
  else await clients.artifacts.deleteFiles({ runId: owner.id, path }, call);
  return { body: {} };
};

/** What `server-info` says is not offered. */
const notImplemented: MlflowRoute["handle"] = () =>
  Promise.reject(new AppError("not_implemented", "files are sent in one piece through this server"));

const PREFIX = "/api/2.0/mlflow-artifacts";
const ALL = `${PREFIX}/artifacts`;
const ONE = `${ALL}/{path*}`;

/** Files of runs and of logged models. */
export const artifactRoutes: readonly Route[] = [
  mlflowRoute({
    method: "PUT",
    path: ONE,
    use: "write",
    streamed: "bytes",
    bodyBytesMax: FILE_BYTES_MAX,
    handle: putFile,
  }),
  mlflowRoute({ method: "GET", path: ONE, use: "read", handle: getFile }),
  mlflowRoute({ method: "DELETE", path: ONE, use: "control", handle: deleteFiles }),
  mlflowRoute({ method: "GET", path: ALL, use: "read", handle: listArtifacts }),
  mlflowRoute({ method: "GET", path: "/api/2.0/mlflow/artifacts/list", use: "read", handle: listArtifactsOfRun }),
  ...["create", "complete", "abort"].map((step) =>
    mlflowRoute({ method: "POST", path: `${PREFIX}/mpu/${step}/{path*}`, use: "probe", handle: notImplemented }),
  ),
  mlflowRoute({ method: "GET", path: `${PREFIX}/presigned/{path*}`, use: "probe", handle: notImplemented }),
];
