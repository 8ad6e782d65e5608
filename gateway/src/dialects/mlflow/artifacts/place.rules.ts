import { badRequest, notFound } from "@tidemark/errors";
import { runUuid } from "../ids.ts";
import { modelUuid } from "../models/ids.ts";

/** Where a path below `mlflow-artifacts:/` leads. */
export type ArtifactPlace = {
  readonly experimentId: string;
  readonly owner: { readonly kind: "run" | "model"; readonly id: string };
  /** Below the root of the owner; empty: the root itself. */
  readonly path: string;
};

/**
 * Reads a path below `mlflow-artifacts:/`: `<experiment>/<run>/artifacts/<path>` or `<experiment>/models/<model>/artifacts/<path>`.
 * @throws bad_request see `requirePath`, not_found for other roots
 */
export function readPlace(sent: string): ArtifactPlace {
  const [experimentId = "", ...parts] = requirePath(sent).split("/");
  const isModel = parts[0] === "models";
  const [id = "", root, ...rest] = isModel ? parts.slice(1) : parts;
  const uuid = isModel ? modelUuid(id) : runUuid(id);
  if (uuid === undefined || root !== "artifacts") throw notFound("artifact root");
  return { experimentId, owner: { kind: isModel ? "model" : "run", id: uuid }, path: rest.join("/") };
}

/** Requires a path without parts that are empty, `.` or `..`, and without backslashes, also when it is decoded again. @throws bad_request */
export function requirePath(path: string): string {
  for (let text = path, left = DECODINGS_MAX; ; left -= 1) {
    if (!isPlain(text) || left === 0) {
      throw badRequest(`path must not have backslashes, and no parts that are empty, "." or ".."`, "path");
    }
    const decoded = decode(text);
    if (decoded === text) return path;
    text = decoded;
  }
}

/** Returns whether a name can be part of a path. */
export function isPlain(path: string): boolean {
  return !path.includes("\\") && path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

/** No name is encoded as often as this by mistake. */
const DECODINGS_MAX = 8;

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
