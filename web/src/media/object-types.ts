/** A rich object of a run. */
export type RichObject = {
  readonly id: number;
  readonly run_id: string;
  readonly key: string;
  readonly kind: "table" | "image" | "video" | "audio" | "histogram" | "classification_eval";
  readonly step: number | null;
  readonly value: unknown;
  readonly metadata: { readonly [key: string]: unknown };
  readonly summary: { readonly [key: string]: unknown };
  readonly artifact: {
    readonly id: string;
    readonly name: string;
    readonly mime_type: string;
    readonly size_bytes: number | null;
    readonly storage_backend: string;
  } | null;
  readonly created_at: string;
};

/** Groups objects by their keys, in the order of the names. */
export function objectsByKey(objects: readonly RichObject[]): readonly (readonly [string, readonly RichObject[]])[] {
  const groups = new Map<string, RichObject[]>();
  for (const object of objects) {
    const group = groups.get(object.key);
    if (group === undefined) groups.set(object.key, [object]);
    else group.push(object);
  }
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
