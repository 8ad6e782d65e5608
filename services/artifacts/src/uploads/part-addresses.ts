import type { Blob } from "@tidemark/blob";
import type { Identity } from "@tidemark/proto/common/v1/common";
import { signPart } from "./part-token.rules.ts";
import { type UploadFileRow, type UploadSessionRow, listUploadFiles, noteStoreUploadIds } from "./sessions.sql.ts";
import { storePartBytesOf } from "./upload-plan.rules.ts";
import { eachOf } from "./upload-jobs.ts";
import type { Db, Tx } from "@tidemark/pg";

/** Seconds for which the address of a part is valid: from its making to the beginning of the request. */
export const ADDRESS_SECONDS = 15 * 60;

/**
 * The same for an address of the store, which does not know about revocations: the five minutes that addresses live at least, and the minute before
 * the end in which the SDK asks for a new one.
 */
const STORE_ADDRESS_SECONDS = 6 * 60;

/** Where a part is to be sent, with PUT. */
type PartAddress = {
  readonly partNumber: number;
  readonly url: string;
  readonly expiresAt: string;
  readonly requiredHeaders: Record<string, string>;
};

/** The recipient of addresses, and the address under which it reached us. */
type AddressHolder = { readonly baseUrl: string; readonly identity: Pick<Identity, "kind" | "credentialId"> };

/** Makes the addresses of `count` parts of a file, starting at part `first`; none for inline files. */
export type PartAddresses = (
  session: Pick<UploadSessionRow, "orgId" | "id">,
  file: UploadFileRow,
  range: { readonly first: number; readonly count: number },
  holder: AddressHolder,
) => Promise<PartAddress[]>;

/** Returns a maker of addresses: of the store itself where it is a server, otherwise of the gateway, signed with `secret`. */
export function createPartAddresses(blob: Blob, secret: () => Promise<Uint8Array>, now: () => Date): PartAddresses {
  const { signed } = blob;
  return async (session, file, { first, count }, { baseUrl, identity }) => {
    const key = blob.keyOf(session.orgId, file.objectId ?? "");
    const seconds = signed === undefined ? ADDRESS_SECONDS : STORE_ADDRESS_SECONDS;
    const expiresAt = Math.floor(now().getTime() / 1000) + seconds;
    const sender = { callerKind: identity.kind, credentialId: identity.credentialId };
    const addressOf = async (partNumber: number) => {
      if (signed === undefined) {
        const part = { orgId: session.orgId, sessionId: session.id, fileId: file.id, partNumber, expiresAt, ...sender };
        const url = `${baseUrl}/api/upload-parts/${signPart(await secret(), part)}`;
        return { url, headers: { "Content-Type": "application/octet-stream" } };
      }
      if (file.uploadKind === "put") return signed.put(key, { sha256: file.sha256!, seconds });
      return signed.part(key, file.storeUploadId!, partNumber, { seconds });
    };
    const numbers = Array.from({ length: Math.min(count, file.partCount - first + 1) }, (_, i) => first + i);
    return Promise.all(
      numbers.map(async (partNumber) => {
        const { url, headers } = await addressOf(partNumber);
        return {
          partNumber,
          url,
          expiresAt: new Date(expiresAt * 1000).toISOString(),
          requiredHeaders: { ...headers },
        };
      }),
    );
  };
}

/** The number of files whose uploads are begun in the store simultaneously. */
const OPENED_TOGETHER = 8;

/**
 * Begins uploads in the store that have not begun, and returns all files that need bytes. It runs after the upload's rows were committed, so that
 * everything in the store can be found by its row; after a crash in between the repeated request does the rest. Uploads in the store that do not count are
 * ended when the file is verified, or swept.
 * @throws service_unavailable
 */
export async function openStoreUploads(
  { db, blob }: { readonly db: Db; readonly blob: Blob },
  session: Pick<UploadSessionRow, "orgId" | "id" | "partSizeBytes">,
): Promise<UploadFileRow[]> {
  const { orgId, id } = session;
  const files = await db.withTenant(orgId, (tx) => listSentFiles(tx, orgId, id));
  const missing = files.filter(
    (file) => file.storeUploadId === null && needsStoreUpload(blob.signed !== undefined, file),
  );
  if (missing.length === 0) return files;
  const begun: { objectId: string; storeUploadId: string; replaced: null }[] = [];
  await eachOf(missing, OPENED_TOGETHER, async ({ objectId, partCount }) => {
    const partBytes = storePartBytesOf({ partCount }, session.partSizeBytes);
    const storeUploadId = await blob.beginParts(blob.keyOf(orgId, objectId!), { partBytes });
    begun.push({ objectId: objectId!, storeUploadId, replaced: null });
  });
  return db.withTenant(orgId, async (tx) => {
    await noteStoreUploadIds(tx, orgId, begun);
    // An early repeat of the request may have begun others before.
    return listSentFiles(tx, orgId, id);
  });
}

async function listSentFiles(tx: Tx, orgId: string, sessionId: string): Promise<UploadFileRow[]> {
  return (await listUploadFiles(tx, orgId, sessionId)).filter(({ uploadKind }) => uploadKind !== null);
}

/** A store that clients reach takes files of one part as objects; all other files are uploaded in parts. */
function needsStoreUpload(isSigned: boolean, { uploadKind }: Pick<UploadFileRow, "uploadKind">): boolean {
  return uploadKind === "multipart" || (uploadKind === "put" && !isSigned);
}
