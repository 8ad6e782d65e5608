import { readExactJson } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { FROZEN_DATA_BYTES_MAX, REPORT_VISIBILITIES, SHARE_EXTENTS, type ShareExtent } from "@tidemark/limits";
import { faultOfBlocks, panelsOf, type Block } from "@tidemark/report-blocks";
import { equalHashes, parseCredential, type ParsedCredential } from "@tidemark/credentials";

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

/** Reads what a share token is to open; empty means its blocks. @throws bad_request */
export function readExtent(text: string, frozenBytes: number | undefined): ShareExtent {
  const extent = text === "" ? SHARE_EXTENTS[0] : SHARE_EXTENTS.find((known) => known === text);
  if (extent === undefined) throw badRequest(`extent must be one of ${SHARE_EXTENTS.join(", ")}`, "extent");
  if (frozenBytes === undefined) return extent;
  if (extent !== "data") throw badRequest("frozen needs the extent data", "frozen");
  if (frozenBytes <= FROZEN_DATA_BYTES_MAX) return extent;
  throw badRequest(`the data have more than ${FROZEN_DATA_BYTES_MAX} bytes; share them without frozen`, "frozen");
}

/** Reads a share token; undefined for a text that cannot be one. */
export function readShareToken(text: string): ParsedCredential | undefined {
  const token = parseCredential(text);
  return token?.kind === "share" ? token : undefined;
}

/** Returns whether a token is the stored one, and not older than `ttlSeconds` (0: any age). */
export function isValidShare(
  token: Pick<ParsedCredential, "hash">,
  stored: { readonly hash: Uint8Array; readonly issuedAt: string },
  ttlSeconds: number,
  now: Date,
): boolean {
  if (!equalHashes(token.hash, stored.hash)) return false;
  return ttlSeconds === 0 || now.getTime() < Date.parse(stored.issuedAt) + ttlSeconds * 1000;
}

/** Maximum bytes of the panels of a page, unless one report alone has more (their size is the client's choice). */
export const PANELS_PAGE_BYTES = 16 * 1024 * 1024;

/** Where a page of panels begins: after `skip` panels of this report, or of the first one after it. */
export type PanelStart = { readonly createdAt: string; readonly id: string; readonly skip: number };

/** A report with panels. */
export type PanelSource = {
  readonly id: string;
  readonly createdAt: string;
  readonly panelCount: number;
  readonly panelBytes: number;
};

/** The reports of a page of panels, how many panels of the last one belong to it, and where the next page begins. */
type PanelPage = {
  readonly reports: readonly { readonly id: string; readonly from: number; readonly to: number }[];
  readonly next: PanelStart | undefined;
};

/** Chooses at most `limit` panels of these reports, which follow each other, from `skip` panels of the first one on. */
export function choosePanels(sources: readonly PanelSource[], skip: number, limit: number): PanelPage {
  const reports: { id: string; from: number; to: number }[] = [];
  let [left, bytes, from] = [limit, 0, skip];
  for (const { id, createdAt, panelCount, panelBytes } of sources) {
    const tooMany = reports.length > 0 && bytes + panelBytes > PANELS_PAGE_BYTES;
    if (left === 0 || tooMany) return { reports, next: { createdAt, id, skip: 0 } };
    const to = Math.min(panelCount, from + left);
    reports.push({ id, from, to });
    if (to < panelCount) return { reports, next: { createdAt, id, skip: to } };
    left -= Math.max(0, to - from);
    bytes += panelBytes;
    from = 0;
  }
  return { reports, next: undefined };
}
