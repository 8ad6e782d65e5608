import { badRequest } from "@tidemark/errors";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../../clients.ts";
import type { Json } from "../../../http/json.ts";
import { mlflowRunId, readRunId } from "../ids.ts";
import type { MlflowRoute } from "../route.ts";
import { experimentOfRun, requireOwner } from "./owner.ts";
import { type ArtifactPlace, isPlain, readPlace, requirePath } from "./place.rules.ts";

/** Most items of a folder: its list is one answer. */
export const FOLDER_ITEMS_MAX = 20_000;

const PAGE_ITEMS = 1000;

type Item = { readonly name: string; readonly sizeBytes: number | undefined };

/** Returns what is directly in a folder, by name; nothing for a file or a folder that is missing. @throws bad_request for more than `FOLDER_ITEMS_MAX` */
async function itemsIn(clients: Clients, { owner, path }: Pick<ArtifactPlace, "owner" | "path">, call: Call) {
  if (owner.kind === "model") {
    const { files } = await clients.models.listModelFiles({ modelId: owner.id, folder: path }, call);
    const skipped = path === "" ? 0 : path.length + 1;
    const items = new Map<string, Item>();
    for (const file of files) {
      const [name = "", ...rest] = file.path.slice(skipped).split("/");
      const isFile = rest.length === 0;
      items.set(isFile ? name : `${name}/`, { name, sizeBytes: isFile ? Number(file.sizeBytes) : undefined });
    }
    return [...items.values()];
  }
  const all: Item[] = [];
  for (let cursor = ""; ;) {
    const asked = { runId: owner.id, folder: path, limit: PAGE_ITEMS, cursor };
    const { items, nextCursor } = await clients.artifacts.listFolder(asked, call);
    for (const { name, sizeBytes, isFolder } of items) {
      // Natively, names may be what no path of MLflow is.
      if (isPlain(name)) all.push({ name, sizeBytes: isFolder ? undefined : Number(sizeBytes) });
    }
    if (all.length > FOLDER_ITEMS_MAX) {
      throw badRequest(`a folder with more than ${FOLDER_ITEMS_MAX} items cannot be listed`, "path");
    }
    if (nextCursor === "") return all;
    cursor = nextCursor;
  }
}

function filesJson(items: readonly Item[], prefix = ""): Json[] {
  return items.map(({ name, sizeBytes }) => ({
    path: `${prefix}${name}`,
    is_dir: sizeBytes === undefined,
    ...(sizeBytes === undefined ? {} : { file_size: sizeBytes }),
  }));
}

function readText(sent: unknown, name: string): string {
  if (sent === undefined) return "";
  if (typeof sent !== "string") throw badRequest(`${name} must be a text`, name);
  return sent.replace(/\/$/, "");
}

/** GET mlflow-artifacts/artifacts?path=: paths are relative to the folder. */
export const listArtifacts: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const place = readPlace(readText(body["path"], "path"));
  await requireOwner(clients, place, "read", call);
  const items = await itemsIn(clients, place, call);
  return { body: items.length === 0 ? {} : { files: filesJson(items) } };
};

/** GET artifacts/list: paths are relative to the root of the run. */
export const listArtifactsOfRun: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const id = readRunId(body);
  const sent = readText(body["path"], "path");
  const path = sent === "" ? "" : requirePath(sent);
  const experimentId = await experimentOfRun(clients, id, "read", call);
  const items = await itemsIn(clients, { owner: { kind: "run", id }, path }, call);
  return {
    body: {
      root_uri: `mlflow-artifacts:/${experimentId}/${mlflowRunId(id)}/artifacts`,
      files: filesJson(items, path === "" ? "" : `${path}/`),
    },
  };
};
