import { exactJson } from "../api/exact-json.ts";
import { valueText, type ExactValue } from "../api/exact-value.ts";

/** What the cell of a logged table shows. */
export type TableCell =
  /** `full` has what the text leaves out. */
  | { readonly kind: "number" | "text"; readonly text: string; readonly full?: string }
  | { readonly kind: "image" | "video" | "audio"; readonly address: string; readonly text: string };

/** The address of a file of this server, and a small picture inside a cell. */
const OWN_FILE = /^\/api\/artifacts\/([\da-f-]{36})\/download$/i;
const INLINE = /^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/]+=*$/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Digits of numbers with a fraction. */
const DIGITS = 6;

/** Characters of a cell that are shown. */
const CHARACTERS_MAX = 500;

/**
 * Returns what a cell shows. A file of the run is an object with its `artifact_id`, and what it is in `kind`, `type` or `mime_type` (an image unless said), or the
 * address of its download; a small picture may be a data URL.
 */
export function tableCell(value: ExactValue | undefined): TableCell {
  if (value === undefined || value === null) return { kind: "text", text: "" };
  if (typeof value === "bigint") return { kind: "number", text: String(value) };
  if (typeof value === "number") {
    if (Number.isInteger(value)) return { kind: "number", text: String(value) };
    return { kind: "number", text: String(Number(value.toPrecision(DIGITS))), full: String(value) };
  }
  if (typeof value === "string") {
    if (OWN_FILE.test(value)) return { kind: "image", address: value, text: "" };
    if (INLINE.test(value)) return { kind: "image", address: value, text: "" };
  } else if (typeof value === "object" && !Array.isArray(value)) {
    const file = fileOf(value as { readonly [key: string]: ExactValue });
    if (file !== undefined) return file;
  }
  const text = typeof value === "object" ? exactJson(value) : valueText(value);
  return { kind: "text", text: text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}…` : text };
}

function fileOf(value: { readonly [key: string]: ExactValue }): TableCell | undefined {
  const { artifact_id: id, caption } = value;
  if (typeof id !== "string" || !UUID.test(id)) return undefined;
  const words = [value["kind"], value["type"], value["mime_type"]].filter((word) => typeof word === "string").join(" ");
  const kind = (["video", "audio"] as const).find((known) => words.includes(known)) ?? "image";
  return {
    kind,
    address: `/api/artifacts/${id.toLowerCase()}/download`,
    text: typeof caption === "string" ? caption : "",
  };
}
