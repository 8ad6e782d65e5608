import { readExactJson } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { REPORT_VISIBILITIES } from "@tidemark/limits";
import { faultOfBlocks, panelsOf, type Block } from "@tidemark/report-blocks";

/** The blocks of a report as they are stored, with their counted parts. */
export type StoredBlocks = {
  /** JSON array. */
  readonly blocks: string;
  readonly blockCount: number;
  /** JSON objects, and the place of each in its grid. */
  readonly panels: readonly string[];
  readonly panelIndexes: readonly number[];
  readonly panelBytes: number;
};

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Reads the blocks of a report; no bytes mean no blocks. @throws bad_request */
export function readBlocks(bytes: Uint8Array): StoredBlocks {
  const value = bytes.length === 0 ? [] : readExactJson(bytes, "blocks");
  const fault = faultOfBlocks(value, bytesOf);
  if (fault !== undefined) throw badRequest(fault, "blocks");
  const blocks = value as unknown as readonly Block[];
  const placed = panelsOf(blocks);
  const panels = placed.map(({ panel }) => JSON.stringify(panel));
  return {
    blocks: JSON.stringify(blocks),
    blockCount: blocks.length,
    panels,
    panelIndexes: placed.map(({ index }) => index),
    panelBytes: panels.reduce((sum, panel) => sum + Buffer.byteLength(panel), 0),
  };
}

/** @throws bad_request for a word that is not a visibility */
export function requireVisibility(text: string): string {
  if (REPORT_VISIBILITIES.some((known) => known === text)) return text;
  throw badRequest(`visibility must be one of ${REPORT_VISIBILITIES.join(", ")}`, "visibility");
}
