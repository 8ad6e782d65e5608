import { sql, type Db } from "@tidemark/pg";

const read = sql("artifacts_read_upload_secret", "SELECT secret FROM artifacts.upload_secret");

/** Returns a reader of the secret that signs addresses of parts; the same in all processes, read once. @throws warehouse_unavailable */
export function createUploadSecret(db: Db): () => Promise<Uint8Array> {
  let secret: Promise<Uint8Array> | undefined;
  return () => {
    secret ??= db.one<{ secret: Uint8Array }>(read, []).then((row) => row!.secret);
    secret.catch(() => (secret = undefined));
    return secret;
  };
}
