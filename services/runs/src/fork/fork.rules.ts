import { createHash } from "node:crypto";
import { badRequest } from "@tidemark/errors";
import { NAME_BYTES_MAX } from "../create/run-name.rules.ts";
import { exactNumber, type ExactJson, type ExactObject } from "@tidemark/documents";

/** A fork request with its defaults filled in (API specification, POST /api/runs/{run_id}/forks). */
export type ForkWish = {
  /** Undefined: the name comes from `forkName`. */
  readonly name: string | undefined;
  readonly step: number | undefined;
  readonly checkpointArtifactId: string | undefined;
  readonly inheritConfig: boolean;
  readonly configOverrides: ExactObject;
  readonly tags: readonly string[];
  readonly notes: string | undefined;
  readonly metadata: ExactObject;
};

/** The parts of the parent that its child depends on. */
export type ForkSource = {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly config: ExactObject;
  readonly tags: readonly string[];
};

/** The artifact of the parent that a fork starts from. */
export type Checkpoint = { readonly type: string; readonly name: string; readonly step: number | null };

/**
 * Returns the wish with the step of its checkpoint, if it names none.
 * @throws bad_request for an artifact that is not a checkpoint, or one of another step
 */
export function withCheckpoint(wish: ForkWish, { type, step }: Checkpoint): ForkWish {
  if (type !== "checkpoint") throw badRequest("the artifact must be a checkpoint", "checkpoint_artifact_id");
  if (step === null) return wish;
  if (wish.step !== undefined && wish.step !== step) {
    throw badRequest(`step must be that of the checkpoint, ${step}, or be left out`, "step");
  }
  return { ...wish, step };
}

/** The parts of the child's row that follow from parent and request. */
type ForkedRun = {
  readonly name: string;
  readonly config: ExactObject;
  readonly tags: readonly string[];
  readonly metadata: ExactObject;
};

/** The tag that every fork has. */
const FORK_TAG = "forked";

/** Maximum bytes of a child's config and metadata together, as many as the body of a create may have. */
const DOCUMENT_BYTES_MAX = 1_000_000;

/** Members of the metadata that contain the origin of a run; only the server writes them. */
const RESERVED_KEYS = ["lineage", "parent_run_id", "forked_from_step", "forked_from_artifact_id"];

/** Refuses metadata that claims another origin. @throws bad_request */
export function refuseReservedKeys(metadata: ExactObject): void {
  const taken = RESERVED_KEYS.find((key) => Object.hasOwn(metadata, key));
  if (taken !== undefined) throw badRequest(`metadata must not have the key ${taken}`, "metadata");
}

/** Refuses a step that is not a finite number of at least 0. @throws bad_request */
export function refuseStep(step: number | undefined): void {
  if (step === undefined || (step >= 0 && Number.isFinite(step))) return;
  throw badRequest("step must be a finite number of at least 0", "step");
}

/**
 * Returns the child of a run. Its config is the parent's; the overrides replace top-level members.
 * Its tags are the parent's, the given ones and `forked`, each once. Its metadata is not inherited, and
 * contains the origin of the run. `at` is the start of the child.
 */
export function forkedRun(
  source: ForkSource,
  wish: ForkWish,
  at: string,
  checkpoint: Checkpoint | undefined,
): ForkedRun {
  const inherited = wish.inheritConfig ? source.config : {};
  const metadata: ExactObject = {
    ...wish.metadata,
    ...(wish.notes === undefined ? {} : { notes: wish.notes }),
    lineage: lineageOf(source, wish, at, checkpoint),
  };
  return {
    name: wish.name ?? forkName(source.name, wish.step),
    config: { ...inherited, ...wish.configOverrides },
    tags: [...new Set([...source.tags, ...wish.tags, FORK_TAG])],
    metadata,
  };
}

/** Refuses documents of a child, as JSON, that are larger than the body of a create may be. @throws bad_request */
export function refuseLargeFork({ config, metadata }: Readonly<Record<"config" | "metadata", string>>): void {
  if (Buffer.byteLength(config) + Buffer.byteLength(metadata) <= DOCUMENT_BYTES_MAX) return;
  throw badRequest(`config and metadata of the fork must have at most ${DOCUMENT_BYTES_MAX} bytes together`);
}

function lineageOf(
  source: ForkSource,
  wish: ForkWish,
  at: string,
  checkpoint: Checkpoint | undefined,
): { readonly [key: string]: ExactJson } {
  return {
    kind: "fork",
    source_run_id: source.id,
    source_project: source.project,
    source_run_name: source.name,
    source_step: wish.step === undefined ? null : exactNumber(wish.step),
    checkpoint_artifact_id: wish.checkpointArtifactId ?? null,
    checkpoint_name: checkpoint?.name ?? null,
    checkpoint_step: checkpoint === undefined || checkpoint.step === null ? null : exactNumber(checkpoint.step),
    inherit_config: wish.inheritConfig,
    created_at: at,
  };
}

/**
 * Returns the name of a fork without a name in its request: `fork-of-<parent>`, and `-step-<n>` if a step
 * was given. Names of forks of forks grow; where one would become too long, the parent's name is cut.
 */
export function forkName(parent: string, step: number | undefined): string {
  const before = "fork-of-";
  const after = step === undefined ? "" : `-step-${step}`;
  return `${before}${cut(parent, NAME_BYTES_MAX - before.length - after.length)}${after}`;
}

/** Returns the start of a text, of at most `bytesMax` bytes of whole characters. */
function cut(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytesMax));
  return text.slice(0, read);
}

/**
 * Returns the id of the child of a keyed fork: always the same for one key of one organization, so that
 * a repeat finds the child however late it is. It is a UUID of version 8 (RFC 9562) with bits of SHA-256.
 */
export function forkRunId(orgId: string, idempotencyKey: string): string {
  const bytes = createHash("sha256").update(`fork ${orgId} ${idempotencyKey}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/**
 * Returns a value that is equal for equal fork requests of one run, to be fingerprinted, after texts were trimmed and
 * defaults filled in. The order of keys does not matter, the order of tags does; numbers are equal when
 * their decimal values are. Fingerprints are stored: they must not change between releases.
 */
export function comparedFork(runId: string, wish: ForkWish): ExactJson {
  return {
    fork_of: runId,
    name: wish.name ?? null,
    step: wish.step === undefined ? null : exactNumber(wish.step),
    checkpoint_artifact_id: wish.checkpointArtifactId ?? null,
    inherit_config: wish.inheritConfig,
    config_overrides: wish.configOverrides,
    tags: wish.tags,
    notes: wish.notes ?? null,
    metadata: wish.metadata,
  };
}
