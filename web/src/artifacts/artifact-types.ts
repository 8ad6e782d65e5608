import type { ExactValue } from "../api/exact-value.ts";

/** A version of a collection. */
export type Version = {
  readonly id: string;
  readonly collection_id: string;
  readonly name: string;
  readonly type: string;
  readonly version: string;
  readonly aliases: readonly string[];
  readonly digest: string;
  readonly source_run_id: string;
  readonly source_step: number | null;
  readonly file_count: number;
  readonly size_bytes: number;
  readonly state: "active" | "soft_deleted";
  readonly expires_at: string | null;
  readonly created_at: string;
};

/** A collection of versions. */
export type Collection = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly description: string | null;
  /** What its first upload said about it; it holds for all of its versions. */
  readonly metadata: { readonly [key: string]: ExactValue };
  readonly versions_count: number;
  /** Bytes of the available versions. */
  readonly retained_bytes: number;
  readonly latest_version: Version | null;
  readonly created_at: string;
  readonly updated_at: string;
};

/** A file of a version. */
export type Entry = {
  readonly id: string;
  readonly path: string;
  readonly kind: string;
  readonly size_bytes: number | null;
  readonly sha256: string | null;
  readonly mime_type: string | null;
  readonly reference_uri: string | null;
  readonly downloadable: boolean;
};

/** The producer and the users of a version. */
export type VersionLineage = {
  readonly nodes: readonly {
    readonly id: string;
    readonly kind: "run" | "artifact_version";
    readonly label: string;
    readonly state: string;
    readonly summary: { readonly project?: string };
  }[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly direction: "input" | "output" }[];
  readonly truncated: boolean;
};
