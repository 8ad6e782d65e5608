/**
 * Which bytes to read: from `start` up to but not including `end`, both counted from 0. What lies behind the end of
 * the object is left out.
 */
export type ByteRange = { readonly start: number; readonly end: number };

export type PutOptions = {
  /** Stored with the object where the driver can; `application/octet-stream` when left out. */
  readonly contentType?: string;
  /** Announced length in bytes. A body of another length is refused, and nothing becomes visible. */
  readonly size?: number;
};

/** What was really stored. */
export type PutResult = {
  readonly sizeBytes: number;
  /** 64 lower-case hexadecimal digits, computed over the bytes as they passed. */
  readonly sha256: string;
  /** The store's own mark of this content, without quotes; opaque. */
  readonly etag: string;
};

export type BlobEntry = { readonly key: string; readonly sizeBytes: number; readonly modifiedAt: Date };

/**
 * A store of bytes under keys of the shape `o/<uuid>/<uuid>` (organization, object). No text of a user ever becomes
 * part of a key. Bytes go straight to their final key; whoever stores them makes them known afterwards, by committing
 * the metadata that names the key.
 *
 * Every function throws `service_unavailable` when the store is out of reach or full, and `TypeError` for a key of
 * another shape.
 */
export type Blob = {
  /**
   * Stores a body, replacing what the key had. Resolves when the bytes are durable. The body is streamed, never held
   * whole, and hashed on its way; without `size` it may have at most 80 GiB. On a throw nothing is visible under the
   * key but what was there before. A fault of the body itself is thrown as it is; `bad_request` when its length is
   * not `size`.
   */
  put(key: string, body: Uint8Array | AsyncIterable<Uint8Array>, options?: PutOptions): Promise<PutResult>;
  /**
   * Reads an object or a part of it; `undefined` when there is none. `sizeBytes` is the length of the whole object.
   * The body can be read once: to its end, or break off. A body that nobody reads is let go after a minute.
   */
  get(
    key: string,
    range?: ByteRange,
  ): Promise<{ readonly sizeBytes: number; readonly body: AsyncIterable<Uint8Array> } | undefined>;
  /** Length and time of an object; `undefined` when there is none. */
  head(key: string): Promise<BlobEntry | undefined>;
  /** Deletes an object. One that is missing counts as deleted. */
  remove(key: string): Promise<void>;
  /**
   * Every object whose key starts with `prefix`, in the order of the keys. `prefix` is the beginning of a key, or
   * empty.
   */
  list(prefix: string): AsyncIterable<BlobEntry>;
  /**
   * Whether objects could be stored now; makes the bucket or the folder if it is missing. Never throws, and answers
   * within 10 seconds.
   */
  ready(): Promise<boolean>;
};
