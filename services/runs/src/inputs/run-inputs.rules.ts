import { badRequest } from "@tidemark/errors";
import { DATASET_BYTES, RUN_INPUTS, TEXT_TAGS } from "@tidemark/limits";
import type { RunDataset } from "@tidemark/proto/runs/v1/inputs";

/** Tags as pairs of texts. */
export type Tags = Readonly<Record<string, string>>;

/** A dataset as a run has it. */
export type Dataset = { readonly [Field in keyof typeof DATASET_BYTES]: string } & { readonly tags: Tags };

/** A dataset that a run has already: what identifies it, its tags, and the bytes of all its texts. */
export type KnownDataset = Pick<Dataset, "name" | "digest" | "tags"> & { readonly bytes: number };

/** Checks the datasets of a request. @throws bad_request */
export function readDatasets(sent: readonly RunDataset[]): Dataset[] {
  if (sent.length > RUN_INPUTS.together) {
    throw badRequest(`at most ${RUN_INPUTS.together} datasets are added together`, "datasets");
  }
  return sent.map(({ name, digest, sourceType, source, schema, profile, tags }) => {
    if (name === "" || digest === "") throw badRequest("a dataset needs a name and a digest", "datasets");
    const fields = { name, digest, sourceType, source, schema, profile };
    for (const [field, max] of Object.entries(DATASET_BYTES)) {
      requireText(fields[field as keyof typeof fields], max, `the ${FIELD_NAMES[field] ?? field} of a dataset`);
    }
    return { ...fields, tags: readTags(tags) };
  });
}

const FIELD_NAMES: Readonly<Record<string, string>> = { sourceType: "source type" };

function readTags(tags: Tags): Tags {
  const entries = Object.entries(tags);
  if (entries.length > TEXT_TAGS.max) throw badRequest(`a dataset has at most ${TEXT_TAGS.max} tags`, "datasets");
  for (const [key, value] of entries) {
    if (key === "") throw badRequest("a tag needs a key", "datasets");
    requireText(key, TEXT_TAGS.keyBytesMax, "the key of a tag");
    requireText(value, TEXT_TAGS.valueBytesMax, "the value of a tag");
  }
  return tags;
}

function requireText(text: string, bytesMax: number, what: string): void {
  if (Buffer.byteLength(text) > bytesMax) throw badRequest(`${what} must have at most ${bytesMax} bytes`, "datasets");
  if (text.includes("\0")) throw badRequest(`${what} must not contain NUL`, "datasets");
}

/**
 * Returns what to store for the datasets of a request: each one once, with the tags that the run has for it and those that were sent, which win.
 * `isNew` is false for datasets whose tags alone change.
 * @throws bad_request where the run would have too many datasets, too many bytes of them, or a dataset too many tags
 */
export function mergeDatasets(
  known: readonly KnownDataset[],
  sent: readonly Dataset[],
): (Dataset & { readonly isNew: boolean })[] {
  const before = new Map(known.map((dataset) => [keyOf(dataset), dataset]));
  const merged = new Map<string, Dataset & { readonly isNew: boolean }>();
  for (const dataset of sent) {
    const key = keyOf(dataset);
    const earlier = merged.get(key);
    const tags = readTags({ ...(earlier ?? before.get(key))?.tags, ...dataset.tags });
    merged.set(key, { ...(earlier ?? dataset), tags, isNew: !before.has(key) });
  }
  const rows = [...merged.values()];
  const added = rows.filter(({ isNew }) => isNew);
  if (added.length > 0 && known.length + added.length > RUN_INPUTS.ofRunMax) {
    throw badRequest(`a run has at most ${RUN_INPUTS.ofRunMax} datasets`, "datasets");
  }
  const bytes = known.reduce((sum, dataset) => sum + dataset.bytes, 0) + growthOf(known, rows);
  if (rows.length > 0 && bytes > RUN_INPUTS.datasetBytesMax) {
    throw badRequest(`the datasets of a run have at most ${RUN_INPUTS.datasetBytesMax} bytes`, "datasets");
  }
  return rows;
}

/** Returns by how many bytes of texts merged datasets grow what the run has. */
export function growthOf(
  known: readonly KnownDataset[],
  merged: readonly (Dataset & { readonly isNew: boolean })[],
): number {
  const before = new Map(known.map((dataset) => [keyOf(dataset), dataset]));
  return merged.reduce((sum, dataset) => {
    const { name, digest, sourceType, source, schema, profile, tags } = dataset;
    const earlier = before.get(keyOf(dataset));
    if (earlier !== undefined) return sum + tagBytes(tags) - tagBytes(earlier.tags);
    return sum + Buffer.byteLength([name, digest, sourceType, source, schema, profile].join("")) + tagBytes(tags);
  }, 0);
}

const tagBytes = (tags: Tags): number => Buffer.byteLength(JSON.stringify(tags));

function keyOf({ name, digest }: Pick<Dataset, "name" | "digest">): string {
  return JSON.stringify([name, digest]);
}
