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

/** The stored object. */
export type PutResult = {
  readonly sizeBytes: number;
  /** 64 lower-case hexadecimal digits, computed while the bytes were streamed. */
  readonly sha256: string;
  /** The store's ETag of this content, without quotes; opaque. */
  readonly etag: string;
};

export type BlobEntry = {
  readonly key: string;
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
  /**
   * 64 lower-case hexadecimal digits, where the store itself has verified the bytes by them: for objects that arrived at an
   * address of `signed.put`. Absent for all others, and in lists.
   */
  readonly sha256?: string;
};

/** Where a client sends bytes itself, with PUT and these headers. */
export type SignedPut = { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** One part of an object, from 1. The ETag is the store's, without quotes. */
export type PartTag = { readonly partNumber: number; readonly etag: string };

/** A part that has arrived. */
export type BlobPart = PartTag & { readonly sizeBytes: number };

/**
 * A store of bytes under keys of the shape `o/<uuid>/<uuid>` (organization, object). No text of a user ever becomes
 * part of a key. Bytes are written to their final key; the caller makes them visible afterwards, by committing the
 * metadata that names the key.
 *
 * Every function throws `service_unavailable` if the store is not reachable or full, and `TypeError` for a key of another
 * shape.
 */
export type Blob = {
  /** Returns the key of an object of an organization. Both ids are UUIDs in lower case. */
  keyOf(orgId: string, objectId: string): string;
  /** The kind of store. */
  readonly kind: "folder" | "s3";
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
  /**
   * Deletes an object, ends its uploads in parts, and deletes what has arrived of them. One that is missing counts as
   * deleted. A part that is arriving meanwhile may outlive this on an S3 server; calling it again deletes that too.
   */
  remove(key: string): Promise<void>;
  /**
   * Makes addresses, valid for `seconds` (at most 7 days), under which clients write into the store themselves;
   * undefined where clients do not reach the store. `put` takes exactly the bytes that have the SHA-256 (64 hexadecimal
   * digits), however often it is used; so it also puts them back after they were removed. `part` takes any bytes of any
   * length, and nothing once the upload has ended. Requests need the headers that are returned.
   */
  readonly signed:
    | {
        put(key: string, options: { readonly sha256: string; readonly seconds: number }): Promise<SignedPut>;
        part(
          key: string,
          uploadId: string,
          partNumber: number,
          options: { readonly seconds: number },
        ): Promise<SignedPut>;
      }
    | undefined;
  /**
   * Begins an object that arrives in parts of `partBytes`, in any order: 1 to 10,000 parts, each of exactly that length
   * (5 MiB to 5 GiB) but the last, which may be shorter, though not empty. Returns the id of the upload, printable ASCII
   * of at most 1,100 characters. Nothing of it is visible until it is finished; `remove` ends it. A folder also ends an
   * upload into which nothing was written for a day, when it is opened.
   *
   * The functions below take any text as an upload id: one that is not the id of an upload of this key has ended.
   */
  beginParts(key: string, options: { readonly partBytes: number }): Promise<string>;
  /**
   * Stores a part in place of the one with its number. Resolves when it is durable; the body is streamed. Throws
   * `not_found` when the upload has ended, `bad_request` when the body has another length than `size` or `size` is 0 or
   * more than the length of the parts, and errors of the body itself unchanged; then the part is not there, or is still
   * the one from before.
   */
  putPart(
    key: string,
    uploadId: string,
    partNumber: number,
    body: AsyncIterable<Uint8Array>,
    options: { readonly size: number },
  ): Promise<{ readonly etag: string }>;
  /** Returns the parts that have arrived, by number; undefined when the upload has ended. */
  listParts(key: string, uploadId: string): Promise<readonly BlobPart[] | undefined>;
  /**
   * Makes the parts, named in ascending order from 1, the object; others that have arrived are dropped. Durable when it
   * resolves, which may take minutes. Returns its length, and its SHA-256 where the store knows it without reading.
   * Throws `bad_request` when a part is missing, has another ETag or another length than promised; then the upload stays
   * open. Throws `not_found` when the upload has ended: it may have been finished, also by a call that failed with
   * `service_unavailable`.
   */
  finishParts(
    key: string,
    uploadId: string,
    parts: readonly PartTag[],
  ): Promise<{ readonly sizeBytes: number; readonly sha256?: string }>;
  /** Ends all uploads in parts of a key and deletes what has arrived of them; the object, if there is one, stays. */
  endParts(key: string): Promise<void>;
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
