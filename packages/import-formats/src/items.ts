import type { ExactNumber } from "@tidemark/values";

/**
 * A value of JSON. Numbers that JSON does not have are texts: "NaN", "Infinity", "-Infinity". Integers that a double does not hold exactly keep their
 * digits.
 */
export type JsonValue = null | boolean | number | ExactNumber | string | readonly JsonValue[] | JsonObject;

/** An object of JSON. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** The trackers whose files are read. */
export type Source = "wandb" | "mlflow" | "neptune" | "tensorboard" | "dvclive" | "trackio";

/** The status of a run, as its own tracker would show it. */
export type RunStatus = "running" | "finished" | "failed";

/**
 * A run, or more about a run that was already named: a field that is present replaces what an earlier item of the same run said, an absent one changes nothing.
 * The first item of a run precedes everything else of that run and has `status`. Runs of one source have distinct ids.
 */
export type RunItem = {
  readonly kind: "run";
  /** The id of the run in its source. */
  readonly run: string;
  readonly source: Source;
  readonly project?: string;
  readonly name?: string;
  readonly status?: RunStatus;
  /** Milliseconds since 1970. */
  readonly startedAt?: number;
  /** Milliseconds since 1970. */
  readonly finishedAt?: number;
  readonly config?: JsonObject;
  readonly tags?: readonly string[];
  readonly notes?: string;
  /** Data that has no other place: group, job type, host, git, owner. */
  readonly metadata?: JsonObject;
  /** The run that this one continues, and the step of that run after which it continues. That run may follow later. */
  readonly fork?: { readonly parent: string; readonly step: number };
};

/** Points of one metric key of a run, at most `POINTS_MAX`, in the order of the source; the three columns have equal lengths. Values are any doubles. */
export type PointsItem = {
  readonly kind: "points";
  readonly run: string;
  readonly key: string;
  /** Finite; fractions and numbers below 0 occur. */
  readonly steps: Float64Array;
  readonly values: Float64Array;
  /** Milliseconds since 1970, NaN where the source does not say. Absent: it never says. */
  readonly times?: Float64Array;
};

/** A line of a console without its line break, as a terminal shows it after all carriage returns. */
export type ConsoleLine = {
  /** Milliseconds since 1970. */
  readonly time?: number;
  readonly message: string;
};

/** Console lines of a run, at most `LINES_MAX`, in their order. */
export type LinesItem = {
  readonly kind: "lines";
  readonly run: string;
  readonly stream: "stdout" | "stderr";
  readonly lines: readonly ConsoleLine[];
};

/** One typed value of a run, or one text of a series of texts. */
export type AttributeItem = {
  readonly kind: "attribute";
  readonly run: string;
  readonly path: string;
  /** `string_series`: `value` is one text of the series at `path`. `config`: the value at `path` that belongs to no step. */
  readonly type: "config" | "string_series";
  readonly value: JsonValue;
  readonly step?: number;
  /** Milliseconds since 1970. */
  readonly time?: number;
};

/** Counts between edges. `bins` has as many numbers as `counts`, or one more; all are finite, and counts are not below 0. */
export type HistogramValue = { readonly bins: readonly number[]; readonly counts: readonly number[] };

/** Where the bytes of an image, a video or a sound are. */
export type MediaFile = {
  readonly mimeType?: string;
  /** Bytes, where the caller has none of its own. */
  readonly size?: number;
} & (
  | {
      /** Relative to the folder that was read, by `/`, without `..`; the caller opens it, and finds nothing where the file was not kept. */
      readonly path: string;
    }
  | { readonly bytes: Uint8Array }
);

/** A rich object of a run at a step. */
export type ObjectItem = {
  readonly kind: "object";
  readonly run: string;
  readonly key: string;
  readonly step?: number;
  /** Milliseconds since 1970. */
  readonly time?: number;
  /** The source's information about it: a caption, a size in pixels, the number of rows before they were cut. */
  readonly metadata?: JsonObject;
} & (
  | { readonly object: "histogram"; readonly value: HistogramValue }
  | { readonly object: "table"; readonly rows: readonly JsonObject[] }
  | { readonly object: "image" | "audio" | "video"; readonly file: MediaFile }
);

/** A file that belongs to a run. Without `path` and `uri` its bytes are not in the folder, and a warning counts it as missing. */
export type FileItem = {
  readonly kind: "file";
  readonly run: string;
  /** Its name in the run, by `/`. */
  readonly name: string;
  /** The source's own word for its kind, such as `model` or `dataset`. */
  readonly type?: string;
  /** Bytes. */
  readonly size?: number;
  /** The source's digest of its content: `md5:` or `sha256:` with hexadecimal digits. */
  readonly digest?: string;
  /** The artifact that it is part of. */
  readonly artifact?: { readonly name: string; readonly aliases: readonly string[] };
  /** Relative to the folder that was read, by `/`, without `..`; the caller opens it. */
  readonly path?: string;
  /** Where it is instead, if it is outside of the folder. */
  readonly uri?: string;
};

/** A kind of omitted data and the reason. */
export type WarningCode =
  /** Bytes that the format does not allow. What follows them in the file may be lost with them. */
  | "damaged"
  /** The last record of a file is cut off, as when its writer was killed. */
  | "torn_tail"
  /** A record, a text or a list is larger than this package takes. */
  | "too_large"
  /** A path that is absolute or leads out of its folder. */
  | "unsafe_path"
  /** A kind of content that has no place here. */
  | "unsupported"
  /** A value of the wrong type where the format has another one. */
  | "malformed_value"
  /** Something that a record names is not there. */
  | "missing"
  /** A run that was deleted in its source. */
  | "deleted_run"
  /** Points that a later restart of the same run takes back. */
  | "purged"
  /** A step or a value of a point that no double holds exactly; it is kept as the nearest one. */
  | "rounded_integer";

/** How many things were left out for one reason. A reader ends with one for each reason and run. */
export type WarningItem = {
  readonly kind: "warning";
  readonly code: WarningCode;
  /** Absent: it does not belong to one run. */
  readonly run?: string;
  readonly count: number;
  /** Where the first of them is. */
  readonly detail?: string;
};

/** An item that the readers of this package yield. */
export type Item = RunItem | PointsItem | LinesItem | AttributeItem | ObjectItem | FileItem | WarningItem;

/** Most points of one item. */
export const POINTS_MAX = 8192;

/** Most lines of one item. */
export const LINES_MAX = 1024;
