import { readDocumentInTurns, writeCanonicalInTurns } from "@tidemark/documents";
import { mergePatch, requireDocumentBytes } from "./merge-documents.rules.ts";

/** Applies a merge patch, a JSON object, to metadata, which is canonical JSON. @throws bad_request */
export async function patchedMetadata(metadata: string, patchJson: Uint8Array): Promise<string> {
  const document = await readDocumentInTurns(Buffer.from(metadata), "metadata");
  const patch = await readDocumentInTurns(patchJson, "metadata");
  return requireDocumentBytes(await writeCanonicalInTurns(mergePatch(document, patch)), "metadata");
}
