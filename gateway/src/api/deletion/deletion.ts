import type { Call } from "@tidemark/rpc";
import type { Json } from "../../http/json.ts";
import type { Schema } from "../../route.ts";
import { object } from "../fields/field.ts";
import { strictFlag } from "../fields/text.ts";
import { countSchema, objectSchema, timeOrNullSchema } from "../replies.ts";
import type { Clients } from "../../clients.ts";

/** Query of the routes that delete. */
export const deletionQuery = object({
  dry_run: strictFlag("true: changes nothing and answers what would be removed."),
});

/** Query parameter with which owners and admins ask a list for deleted rows. */
export const deletedFlag = strictFlag(
  "true: only what was deleted itself and can be restored; for owners and admins who are signed in.",
);

/** Members of a row that say that it is deleted. */
export const deletionProperties = {
  deleted_at: {
    ...timeOrNullSchema,
    description: "In answers of deletions and restores, and in lists of what is deleted.",
  },
  purge_after: { ...timeOrNullSchema, description: "Until then it can be restored; then everything is removed." },
} as const;

/** Returns the schema of a row that always has these members. */
export function withDeletion(row: Schema): Schema {
  return {
    ...row,
    properties: { ...(row["properties"] as Schema), ...deletionProperties },
    required: [...(row["required"] as readonly string[]), ...Object.keys(deletionProperties)],
  };
}

/** The same of a row, which may not be deleted. */
export function deletionJson(deletion: { readonly deletedAt: string; readonly purgeAfter: string } | undefined): {
  deleted_at: Json;
  purge_after: Json;
} {
  return { deleted_at: deletion?.deletedAt ?? null, purge_after: deletion?.purgeAfter ?? null };
}

/** What a dry run answers. */
export const dryRunSchema: Schema = objectSchema({
  counts: objectSchema({
    runs: countSchema,
    points: countSchema,
    lines: countSchema,
    attributes: countSchema,
    objects: countSchema,
    artifacts: countSchema,
    traces: countSchema,
  }),
  bytes: { ...countSchema, description: "Stored bytes of all of these but the runs." },
});

/** What is removed with runs. */
export type Removed = {
  readonly runs: number;
  readonly points: number;
  readonly lines: number;
  readonly attributes: number;
  readonly objects: number;
  readonly artifacts: number;
  readonly traces: number;
  readonly bytes: number;
};

/** `{counts, bytes}` of a dry run. */
export function removedJson({ bytes, ...counts }: Removed): Json {
  return { counts, bytes };
}

/** Returns what would be removed with a run, all runs of a project, or with no scope all of the caller's organization, as the services have it now. */
export async function measureRemoved(
  clients: Clients,
  scope: { readonly runId: string } | { readonly projectId: string } | Record<string, never>,
  call: Call,
): Promise<Removed> {
  const [data, artifacts, traces] = await Promise.all([
    clients.ingestRead.measureRemoval(scope, call),
    clients.artifacts.measureRemoval(scope, call),
    clients.traces.measureRemoval(scope, call),
  ]);
  return {
    runs: data.runs,
    points: data.points,
    lines: data.lines,
    attributes: data.attributes,
    objects: data.objects,
    artifacts: artifacts.artifacts,
    traces: traces.traces,
    bytes: data.bytes + artifacts.bytes + traces.bytes,
  };
}
