/**
 * Which bytes to read: from `start` up to but not including `end`, both counted from 0. Bytes beyond the end of the
 * object are ignored.
 */
export type ByteRange = { readonly start: number; readonly end: number };

export type PutOptions = {
  /** Stored with the object if the driver can; default `application/octet-stream`. */
  readonly contentType?: string;
  /** Announced length in bytes. A body of another length is refused, and nothing becomes visible. */
  readonly size?: number;
};

/** What was stored. */
export type PutResult = {
  readonly sizeBytes: number;
  /** 64 lower-case hexadecimal digits, computed while the bytes were streamed. */
  readonly sha256: string;
  /** The store's ETag of this content, without quotes; opaque. */
  readonly etag: string;
};

export type BlobEntry = { readonly key: string; readonly sizeBytes: number; readonly modifiedAt: Date };

/**
 * A store of bytes under keys of the shape `o/<uuid>/<uuid>` (organization, object). No text of a user ever becomes
 * part of a key. Bytes are written to their final key; the caller makes them visible afterwards, by committing the
 * metadata that names the key.
 *
 * Every function throws `service_unavailable` if the store is not reachable or full, and `TypeError` for a key of another
 * shape.
 */
export type Blob = {
  /**
   * Stores a body in place of the key's previous one. Resolves when the bytes are durable. The body is streamed and
   * hashed, never held in memory as a whole; without `size` it may have at most 80 GiB. If this throws, the key keeps
   * its previous body. Errors of the body itself are thrown unchanged; `bad_request` if its length is not `size`.
   */
  put(key: string, body: Uint8Array | AsyncIterable<Uint8Array>, options?: PutOptions): Promise<PutResult>;
  /**
   * Reads an object or a part of it; `undefined` if there is none. `sizeBytes` is the length of the whole object. The
   * body can be read once, and reading may stop early. A body that is not read is closed after a minute.
   */
  get(
    key: string,
    range?: ByteRange,
  ): Promise<{ readonly sizeBytes: number; readonly body: AsyncIterable<Uint8Array> } | undefined>;
  /** Returns length and time of an object; `undefined` if there is none. */
  head(key: string): Promise<BlobEntry | undefined>;
  /** Deletes an object. One that is missing counts as deleted. */
  remove(key: string): Promise<void>;
  /**
   * Lists every object whose key starts with `prefix`, in the order of the keys. `prefix` is the beginning of a key, or
   * empty.
   */
  list(prefix: string): AsyncIterable<BlobEntry>;
  /**
   * Returns whether objects could be stored now; creates the bucket or the folder if it is missing. Never throws, and
   * resolves within 10 seconds.
   */
  ready(): Promise<boolean>;
};
