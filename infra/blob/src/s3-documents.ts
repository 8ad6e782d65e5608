import type { XmlElement } from "@rgrove/parse-xml";
import type { BlobPart } from "./blob.ts";

/** An element of an XML document: its name without a prefix, its whole text, and the elements in it. */
type Element = { readonly name: string; readonly text: string; readonly children: readonly Element[] };

/** A page of the list of an upload's parts. */
type PartsPage = {
  readonly parts: readonly BlobPart[];
  /** After which part the next page begins; undefined on the last page. */
  readonly marker: string | undefined;
};

/** Returns the root of an XML document; undefined for a text that is not one, or is a part of one. */
export async function readDocument(text: string): Promise<Element | undefined> {
  // Imported here, because an installation with a folder does not need to load it.
  const { parseXml, XmlElement } = await import("@rgrove/parse-xml");
  const read = ({ name, text, children }: XmlElement): Element => ({
    name: name.slice(name.indexOf(":") + 1),
    text,
    children: children.filter((child) => child instanceof XmlElement).map(read),
  });
  try {
    const { root } = parseXml(text);
    return root === null ? undefined : read(root);
  } catch {
    return undefined;
  }
}

/** Returns the code of an error document, `unknown` if it has none; undefined for any other document. */
export function errorCode(root: Element): string | undefined {
  if (root.name !== "Error") return undefined;
  const code = textOf(root, "Code");
  return /^\w+$/.test(code) ? code : "unknown";
}

/** Reads the answer to ListParts. @throws Error for any other document, and for a part without its number, ETag or size */
export async function readPartsPage(text: string): Promise<PartsPage> {
  const root = await readDocument(text);
  if (root?.name !== "ListPartsResult") throw unreadable();
  const parts = root.children.filter(({ name }) => name === "Part").map(readPart);
  const more = textOf(root, "IsTruncated") === "true";
  return { parts, marker: more ? String(readNumber(root, "NextPartNumberMarker")) : undefined };
}

function readPart(part: Element): BlobPart {
  const etag = unquoted(textOf(part, "ETag"));
  if (etag === "") throw unreadable();
  return { partNumber: readNumber(part, "PartNumber"), etag, sizeBytes: readNumber(part, "Size") };
}

function readNumber(parent: Element, name: string): number {
  const text = textOf(parent, name);
  if (!/^\d{1,15}$/.test(text)) throw unreadable();
  return Number(text);
}

/** Returns the text of the first child with this name; empty if there is none. */
function textOf({ children }: Element, name: string): string {
  return children.find((child) => child.name === name)?.text.trim() ?? "";
}

const unreadable = (): Error => new Error("the object store sent a list of parts that cannot be read");

/** Removes the quotes from an ETag. */
export function unquoted(etag: string): string {
  return etag.replaceAll('"', "");
}
