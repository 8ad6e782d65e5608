import { badRequest } from "@tidemark/errors";
import { exactNumber, writeCanonical, type ExactJson, type ExactObject } from "../documents/exact-json.rules.ts";
import { forkName } from "./fork-name.ts";

/** What a fork request asks for, its defaults filled in (API specification, POST /api/runs/{run_id}/forks). */
export type ForkWish = {
  /** Undefined: `forkName` makes one. */
  readonly name: string | undefined;
  readonly step: number | undefined;
  readonly checkpointArtifactId: string | undefined;
  readonly inheritConfig: boolean;
  readonly configOverrides: ExactObject;
  readonly tags: readonly string[];
  readonly notes: string | undefined;
  readonly metadata: ExactObject;
};

/** Of the run that is forked: what its child has from it. */
export type ForkSource = {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly config: ExactObject;
  readonly tags: readonly string[];
};

/** What makes the child's row. */
export type ForkedRun = {
  readonly name: string;
  /** Canonical JSON. */
  readonly config: string;
  readonly tags: readonly string[];
  /** Canonical JSON. */
  readonly metadata: string;
};

/** The tag that every fork has. */
const FORK_TAG = "forked";

/** Most bytes of a child's config and metadata together: as much as the body of a create may bring. */
const DOCUMENT_BYTES_MAX = 1_000_000;

/** Members of the metadata that say where a run comes from; only the server writes them. */
const RESERVED_KEYS = ["lineage", "parent_run_id", "forked_from_step", "forked_from_artifact_id"];

/** Refuses metadata that would claim another origin. @throws bad_request */
export function refuseReservedKeys(metadata: ExactObject): void {
  const taken = RESERVED_KEYS.find((key) => Object.hasOwn(metadata, key));
  if (taken !== undefined) throw badRequest(`metadata must not have the key ${taken}`, "metadata");
}

/** Refuses what is no step: steps are finite numbers from 0. @throws bad_request */
export function refuseStep(step: number | undefined): void {
  if (step === undefined || (step >= 0 && Number.isFinite(step))) return;
  throw badRequest("step must be a finite number of at least 0", "step");
}

/**
 * The child of a run. Its config is the parent's with the overrides laid over it by top key, its
 * tags are the parent's, the given ones and `forked`, each once; metadata are not inherited, but say
 * where the run comes from. `at` is when the child begins.
 * @throws bad_request when config and metadata together are larger than a request could bring them
 */
export function forkedRun(source: ForkSource, wish: ForkWish, at: string): ForkedRun {
  const inherited = wish.inheritConfig ? source.config : {};
  const metadata: ExactObject = {
    ...wish.metadata,
    ...(wish.notes === undefined ? {} : { notes: wish.notes }),
    lineage: lineageOf(source, wish, at),
  };
  const child = {
    name: wish.name ?? forkName(source.name, wish.step),
    config: writeCanonical({ ...inherited, ...wish.configOverrides }),
    tags: [...new Set([...source.tags, ...wish.tags, FORK_TAG])],
    metadata: writeCanonical(metadata),
  };
  if (Buffer.byteLength(child.config) + Buffer.byteLength(child.metadata) > DOCUMENT_BYTES_MAX) {
    throw badRequest(`config and metadata of the fork must have at most ${DOCUMENT_BYTES_MAX} bytes together`);
  }
  return child;
}

function lineageOf(source: ForkSource, wish: ForkWish, at: string): { readonly [key: string]: ExactJson } {
  return {
    kind: "fork",
    source_run_id: source.id,
    source_project: source.project,
    source_run_name: source.name,
    source_step: wish.step === undefined ? null : exactNumber(wish.step),
    checkpoint_artifact_id: wish.checkpointArtifactId ?? null,
    checkpoint_name: null,
    checkpoint_step: null,
    inherit_config: wish.inheritConfig,
    created_at: at,
  };
}
