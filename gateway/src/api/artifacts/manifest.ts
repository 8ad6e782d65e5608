import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { ENTRY_BYTES_MAX, ENTRY_PATH_BYTES_MAX, MANIFEST_ENTRIES_MAX } from "@tidemark/limits";
import type { EntryInputSchema } from "@tidemark/proto/artifacts/v1/uploads";
import type { Schema } from "../../route.ts";
import { described, indexedList, isObject, object, optional, required, type Field } from "../fields/field.ts";
import { integer } from "../fields/number.ts";
import { requireText, textInputSchema, textOrAbsent, word } from "../fields/text.ts";
import { guessType, mimeType } from "./media-types.ts";

const REFERENCE_BYTES_MAX = 2048;
const kinds = ["file", "directory", "reference"] as const;

/** Characters that no path holds: the backslash, and control characters (Unicode category Cc). */
// eslint-disable-next-line no-control-regex -- these are the ones that are looked for
const forbidden = /[\\\u0000-\u001f\u007f-\u009f]/;

/** Describes the path of an entry, which is read trimmed. */
const entryPath: Field<string> = described(
  required(textInputSchema({ bytesMax: ENTRY_PATH_BYTES_MAX }), readPath),
  "Relative, with `/` between its parts, none of which is empty, `.` or `..`; without backslashes and control characters. Unique in the manifest.",
);

function readPath(value: unknown, name: string): string {
  const path = requireText(value, name, { bytesMax: ENTRY_PATH_BYTES_MAX });
  if (forbidden.test(path)) throw badRequest(`${name} must not contain backslashes or control characters`, name);
  if (path.split("/").some((part) => part === "" || part === "." || part === "..")) {
    throw badRequest(`${name} must be relative, without empty parts, "." and ".."`, name);
  }
  return path;
}

const sha256 = required({ type: "string", pattern: "^[0-9A-Fa-f]{64}$" }, (value, name) => {
  if (typeof value === "string" && /^[0-9A-Fa-f]{64}$/.test(value)) return value.toLowerCase();
  throw badRequest(`${name} must be 64 hexadecimal digits`, name);
});

const entry = object({
  path: entryPath,
  kind: described(optional(word(kinds)), "Default: `reference` with a reference_uri, `file` without."),
  size_bytes: described(optional(integer({ min: 0, max: ENTRY_BYTES_MAX })), "Required without a reference_uri."),
  sha256: described(optional(sha256), "Required without a reference_uri."),
  mime_type: mimeType,
  reference_uri: described(
    textOrAbsent({ bytesMax: REFERENCE_BYTES_MAX }),
    "Where the bytes are, for entries that bring none.",
  ),
});

type Entry = MessageInitShape<typeof EntryInputSchema>;

function readEntry(item: unknown): Entry {
  if (!isObject(item)) throw badRequest("must be an object");
  const { sizeBytes, ...fields } = entry.read(item);
  const hasUri = fields.referenceUri !== undefined;
  const kind = fields.kind ?? (hasUri ? "reference" : "file");
  if (!hasUri) {
    if (kind === "reference") throw badRequest("reference_uri is required");
    if (sizeBytes === undefined) throw badRequest("size_bytes is required");
    if (fields.sha256 === undefined) throw badRequest("sha256 is required");
  }
  return {
    ...fields,
    kind,
    mimeType: fields.mimeType || guessType(fields.path),
    sizeBytes: sizeBytes === undefined ? undefined : BigInt(sizeBytes),
  };
}

const entrySchema: Schema = {
  ...entry.schema,
  anyOf: [
    {
      required: ["reference_uri"],
      properties: { reference_uri: { type: "string", pattern: "\\S" } },
    },
    {
      required: ["size_bytes", "sha256"],
      properties: {
        kind: { not: { const: "reference" } },
        size_bytes: { type: "integer" },
        sha256: { type: "string" },
      },
    },
  ],
};

const entries = indexedList(entrySchema, { itemsMin: 1, itemsMax: MANIFEST_ENTRIES_MAX }, readEntry);

/** Describes the entries of a manifest. */
export const manifestEntries: Field<Entry[]> = {
  ...entries,
  check: (value, name) => {
    const list = entries.check(value, name);
    const paths = new Set<string>();
    for (const [index, { path }] of list.entries()) {
      if (paths.has(path!)) throw badRequest(`${name}[${index}]: path is given twice`, name);
      paths.add(path!);
    }
    return list;
  },
};
