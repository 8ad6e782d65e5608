import { badRequest } from "@tidemark/errors";

/** Which version of a collection: the newest available one, the one with an index, or the one that an alias points at. */
export type VersionSelector =
  | { readonly kind: "latest" }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "alias"; readonly alias: string };

/** The parts of a reference; undefined parts match anything. */
export type VersionRef = {
  readonly project: string | undefined;
  readonly type: string | undefined;
  readonly name: string;
  readonly selector: VersionSelector;
};

/** No collection has a version with a higher index. */
const INDEX_MAX = 2 ** 31 - 1;

/**
 * Reads `[[project/]type/]name[:selector]`: the selector follows the last colon, `latest` by default, `v` and digits an index,
 * anything else an alias.
 * @throws bad_request for an empty part, or more than three segments
 */
export function readRef(text: string): VersionRef {
  if (text === "") throw badRequest("ref is required", "ref");
  const last = text.lastIndexOf(":");
  // A selector has no slash, but the name of a project may have a colon.
  const colon = text.includes("/", last) && last !== -1 ? -1 : last;
  const path = colon === -1 ? text : text.slice(0, colon);
  const selector = colon === -1 ? "latest" : text.slice(colon + 1);
  const segments = path.split("/");
  if (segments.length > 3) throw badRequest("ref has at most three segments: project/type/name", "ref");
  if (selector === "" || segments.includes("")) throw badRequest("ref must not have an empty part", "ref");
  const [name = "", type, project] = segments.toReversed();
  return { project, type, name, selector: readSelector(selector) };
}

function readSelector(text: string): VersionSelector {
  if (text === "latest") return { kind: "latest" };
  if (!/^v[0-9]+$/.test(text)) return { kind: "alias", alias: text };
  // No version has an index above the maximum.
  const index = Number(text.slice(1));
  return { kind: "index", index: index <= INDEX_MAX ? index : -1 };
}
