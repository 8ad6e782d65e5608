import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import {
  COLLECTION_TYPES,
  ENTRY_PATH_BYTES_MAX,
  LINEAGE_RUNS,
  RETENTION_MODES,
  TTL_DAYS,
  VERSIONS_PAGE_ROWS,
} from "@tidemark/limits";
import type {
  AddInputRequestSchema,
  AddInputResponse,
  ArtifactVersion,
  DeleteVersionRequestSchema,
  GetVersionLineageRequestSchema,
  GetVersionLineageResponse,
  GetVersionRequestSchema,
  ListEntriesRequestSchema,
  ListEntriesResponse,
  LocateEntryRequestSchema,
  ResolveVersionRequestSchema,
  SetRetentionRequestSchema,
} from "@tidemark/proto/artifacts/v1/versions";
import type { Json } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { boolean, checked, described, join, object, optional, withDefault, withFault } from "../fields/field.ts";
import { integer, limit } from "../fields/number.ts";
import { blankSchema, queryText, text, textOrAbsent, textOrEmpty, uuid, word } from "../fields/text.ts";
import { pageQuery, readPage } from "../parameters.ts";
import {
  countSchema,
  listSchema,
  objectSchema,
  requireMessage,
  textSchema,
  timeSchema,
  uuidSchema,
} from "../replies.ts";
import { pathRunId } from "../runs/read.ts";
import { confirmation, readConfirmation } from "./aliases.ts";
import { entryJson, pageJson, versionJson, versionSchema } from "./rows.ts";

/** A project, a type and a name of at most 512 bytes each, and an alias. */
const REFERENCE_BYTES_MAX = 2048;
const reference = described(text({ bytesMax: REFERENCE_BYTES_MAX }), "`[[project/]type/]name[:selector]`");
const types = `One of ${COLLECTION_TYPES.join(", ")}; where the reference names none.`;

/** `{"artifact_version": row}` */
export function encodeVersion({ version }: { readonly version?: ArtifactVersion | undefined }): RouteReply {
  return { body: { artifact_version: versionJson(requireMessage(version)) } };
}

/** Query of GET /api/artifact-versions/resolve. */
export const resolveVersionQuery = object({
  ref: reference,
  type: queryText({ description: types }),
  project: queryText({ description: "Name of a project; where the reference names none." }),
});

/** GET /api/artifact-versions/resolve. @throws bad_request */
export function decodeResolveVersion({ query }: RouteInput): MessageInitShape<typeof ResolveVersionRequestSchema> {
  return resolveVersionQuery.read(query);
}

/** GET /api/artifact-versions/{version_id}. */
export function decodeGetVersion(input: RouteInput): MessageInitShape<typeof GetVersionRequestSchema> {
  return { versionId: pathVersionId(input) };
}

const entriesPage = pageQuery(VERSIONS_PAGE_ROWS);
const prefix = object({
  path_prefix: queryText({ description: `The beginning of the paths, of at most ${ENTRY_PATH_BYTES_MAX} bytes.` }),
});

/** Query of GET /api/artifact-versions/{version_id}/manifest. */
export const listEntriesQuery = join(prefix, entriesPage);

/** GET /api/artifact-versions/{version_id}/manifest. Faults of the query travel in the message. */
export function decodeListEntries(input: RouteInput): MessageInitShape<typeof ListEntriesRequestSchema> {
  const { value, fault } = withFault(() => ({
    ...prefix.read(input.query),
    page: readPage(entriesPage, input.query),
  }));
  return { versionId: pathVersionId(input), ...value, queryFault: fault };
}

/** `{"artifact_version_id", "entries": [row, …], limit, offset, total, has_more}`, by path. */
export function encodeListEntries(
  response: ListEntriesResponse,
  request: ReturnType<typeof decodeListEntries>,
): RouteReply {
  const versionId = request.versionId!.toLowerCase();
  return {
    body: { artifact_version_id: versionId, ...pageJson("entries", response.entries.map(entryJson), response) },
  };
}

/** GET /api/artifact-entries/{entry_id}/download. */
export function decodeLocateEntry({ params }: RouteInput): MessageInitShape<typeof LocateEntryRequestSchema> {
  return { entryId: params["entry_id"]! };
}

/** Query of GET /api/artifact-versions/{version_id}/lineage. */
export const versionLineageQuery = object({ limit: limit(LINEAGE_RUNS) });

/** GET /api/artifact-versions/{version_id}/lineage. Faults of the query travel in the message. */
export function decodeGetVersionLineage(input: RouteInput): MessageInitShape<typeof GetVersionLineageRequestSchema> {
  const { value, fault } = withFault(() => versionLineageQuery.read(input.query));
  return { versionId: pathVersionId(input), ...value, queryFault: fault };
}

/** Depth of the graph: from the version to its runs and, for a run that is both, back. */
const LINEAGE_DEPTH = 2;

/** Answer of GET /api/artifact-versions/{version_id}/lineage. */
export const versionLineageSchema: Schema = objectSchema({
  nodes: listSchema(
    objectSchema({
      id: { type: "string", description: "`artifact-version:<id>` or `run:<id>`" },
      kind: { type: "string", enum: ["artifact_version", "run"] },
      label: textSchema,
      summary: { type: "object" },
      state: textSchema,
    }),
  ),
  edges: listSchema(
    objectSchema({ from: textSchema, to: textSchema, direction: { type: "string", enum: ["input", "output"] } }),
  ),
  truncated: { type: "boolean", description: "More runs made or used it." },
  limit: countSchema,
  depth: countSchema,
});

/** A graph of the version and the runs that made (`output`, run to version) and used it (`input`, version to run). */
export function encodeGetVersionLineage(response: GetVersionLineageResponse): RouteReply {
  const version = requireMessage(response.version);
  const versionNode = `artifact-version:${version.id}`;
  const runNodes = new Map<string, Json>();
  for (const { runId, name, project, status } of response.runs) {
    const id = `run:${runId}`;
    runNodes.set(id, { id, kind: "run", label: name, summary: { project, status }, state: status });
  }
  const edges = response.runs.map(({ runId, direction }) =>
    direction === "output"
      ? { from: `run:${runId}`, to: versionNode, direction }
      : { from: versionNode, to: `run:${runId}`, direction },
  );
  const own = {
    id: versionNode,
    kind: "artifact_version",
    label: `${version.name}:v${version.versionIndex}`,
    summary: { aliases: version.aliases },
    state: version.state,
  };
  const { truncated, limit: runs } = response;
  return { body: { nodes: [own, ...runNodes.values()], edges, truncated, limit: runs, depth: LINEAGE_DEPTH } };
}

const retention = checked(
  object({
    retention_mode: withDefault(word([...RETENTION_MODES, "forever"]), RETENTION_MODES[0], {
      default: RETENTION_MODES[0],
      description: "`forever` is the same as `keep_forever`.",
    }),
    ttl_days: described(optional(integer(TTL_DAYS)), "From the version's creation; with `days`, and only then."),
  }),
  ({ retentionMode, ttlDays }) => {
    if (retentionMode === "days" && ttlDays === undefined) {
      throw badRequest("ttl_days is required with the retention mode days", "ttl_days");
    }
    if (retentionMode !== "days" && ttlDays !== undefined) {
      throw badRequest("ttl_days may only be given with the retention mode days", "ttl_days");
    }
  },
  {
    oneOf: [
      {
        required: ["retention_mode", "ttl_days"],
        properties: { retention_mode: { const: "days" }, ttl_days: { type: "integer" } },
      },
      { properties: { retention_mode: { not: { const: "days" } }, ttl_days: { type: "null" } } },
    ],
  },
);

/** Body of PATCH /api/artifact-versions/{version_id}/retention. */
export const setRetentionBody = join(retention, confirmation);

/** PATCH /api/artifact-versions/{version_id}/retention. Faults of the body travel in the message. */
export function decodeSetRetention(input: RouteInput): MessageInitShape<typeof SetRetentionRequestSchema> {
  const versionId = pathVersionId(input);
  const { value, fault } = withFault(() => {
    const { retentionMode, ttlDays } = retention.read(input.body);
    return {
      retentionMode: retentionMode === "forever" ? "keep_forever" : retentionMode,
      ttlDays,
      ...readConfirmation(input.body, versionId),
    };
  });
  return { versionId, ...value, bodyFault: fault };
}

const deletion = object({
  delete_aliases: described(
    withDefault(boolean(), false, { default: false }),
    "Whether its aliases go as well; otherwise a version with aliases of its own is not deleted (409).",
  ),
});

/** Body of DELETE /api/artifact-versions/{version_id}. */
export const deleteVersionBody = join(deletion, confirmation);

/** DELETE /api/artifact-versions/{version_id}. Faults of the body travel in the message. */
export function decodeDeleteVersion(input: RouteInput): MessageInitShape<typeof DeleteVersionRequestSchema> {
  const versionId = pathVersionId(input);
  const { value, fault } = withFault(() => ({
    ...deletion.read(input.body),
    ...readConfirmation(input.body, versionId),
  }));
  return { versionId, ...value, bodyFault: fault };
}

const noReference: Schema = { oneOf: [{ type: "null" }, blankSchema] };

/** Body of POST /api/runs/{run_id}/artifact-inputs. */
export const addInputBody = object(
  {
    artifact_version_id: optional(uuid()),
    ref: described(
      textOrAbsent({ bytesMax: REFERENCE_BYTES_MAX }),
      "`[[project/]type/]name[:selector]`, by default in the run's project.",
    ),
    type: described(textOrEmpty(), types),
  },
  {
    oneOf: [
      { required: ["artifact_version_id"], properties: { artifact_version_id: { type: "string" }, ref: noReference } },
      { required: ["ref"], properties: { artifact_version_id: { type: "null" }, ref: { pattern: "\\S" } } },
    ],
  },
);

/** POST /api/runs/{run_id}/artifact-inputs. Faults of the body travel in the message. */
export function decodeAddInput(input: RouteInput): MessageInitShape<typeof AddInputRequestSchema> {
  const { value, fault } = withFault(() => {
    const { artifactVersionId, ref, type } = addInputBody.read(input.body);
    if (artifactVersionId === undefined && ref === undefined) {
      throw badRequest("artifact_version_id or ref is required", "artifact_version_id");
    }
    if (artifactVersionId !== undefined && ref !== undefined) {
      throw badRequest("artifact_version_id and ref must not both be given", "ref");
    }
    return { versionId: artifactVersionId, ref, type };
  });
  return { runId: pathRunId(input), ...value, bodyFault: fault };
}

/** Answer of POST /api/runs/{run_id}/artifact-inputs. */
export const addedInputSchema = objectSchema({
  edge: objectSchema({
    id: uuidSchema,
    org_id: uuidSchema,
    project_id: uuidSchema,
    run_id: uuidSchema,
    artifact_version_id: uuidSchema,
    direction: { type: "string", enum: ["input", "output"] },
    source: textSchema,
    created_at: timeSchema,
  }),
  artifact_version: versionSchema,
});

/** `{edge, artifact_version}` */
export function encodeAddInput(response: AddInputResponse): RouteReply {
  const edge = requireMessage(response.edge);
  return {
    body: {
      edge: {
        id: edge.id,
        org_id: edge.orgId,
        project_id: edge.projectId,
        run_id: edge.runId,
        artifact_version_id: edge.versionId,
        direction: edge.direction,
        source: edge.source,
        created_at: edge.createdAt,
      },
      artifact_version: versionJson(requireMessage(response.version)),
    },
  };
}

function pathVersionId({ params }: Pick<RouteInput, "params">): string {
  return params["version_id"]!;
}
