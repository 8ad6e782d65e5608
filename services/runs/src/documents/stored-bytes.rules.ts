import { ROW_BYTES } from "@tidemark/plans";

/** The texts of a run that count as stored; configs and metadata are JSON texts. */
export type RunTexts = {
  readonly name?: string | undefined;
  readonly config?: string | undefined;
  readonly metadata?: string | undefined;
  readonly tags?: readonly string[] | undefined;
};

/** Returns the UTF-8 bytes of the texts of a run, as its row counts them. */
export function textBytes({ name = "", config = "", metadata = "", tags = [] }: RunTexts): number {
  return [name, config, metadata, ...tags].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** Returns the bytes that a new run counts for. */
export function newRunBytes(texts: RunTexts): number {
  return ROW_BYTES.runs + textBytes(texts);
}
