import {
  faultOfArtifact,
  faultOfCollection,
  faultOfEdge,
  faultOfEntry,
  faultOfVersion,
  type ArchiveLine,
} from "@tidemark/archive";
import { readDocument } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";

const utf8 = new TextEncoder();

/**
 * Checks a line of an artifact, of a collection, or of a version with its entries and edges by the rules of the service that stores it; lines of other kinds
 * pass. @throws bad_request
 */
export function checkArtifacts(line: ArchiveLine): void {
  const fault = faultOf(line);
  if (fault !== undefined) throw badRequest(fault);
  if (line.line === "artifact" || line.line === "collection") readDocument(utf8.encode(line.metadata), "metadata");
}

function faultOf(line: ArchiveLine): string | undefined {
  switch (line.line) {
    case "artifact":
      return faultOfArtifact(line);
    case "collection":
      return faultOfCollection(line);
    case "version":
      return faultOfVersion(line);
    case "version.entries":
      return firstFault(line.entries, faultOfEntry, "entries");
    case "version.edges":
      return firstFault(line.edges, faultOfEdge, "edges");
    default:
      return undefined;
  }
}

function firstFault<T>(
  rows: readonly T[],
  faultOfRow: (row: T) => string | undefined,
  name: string,
): string | undefined {
  for (const [i, row] of rows.entries()) {
    const fault = faultOfRow(row);
    if (fault !== undefined) return `${name}[${i}]: ${fault}`;
  }
  return undefined;
}
