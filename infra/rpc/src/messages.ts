import {
  create,
  fromBinary,
  isMessage,
  mergeFromBinary,
  toBinary,
  type DescMessage,
  type MessageShape,
} from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { createPauses, mapInTurns } from "@tidemark/work";

/*
 * Messages between processes. A page of 500 runs with their metrics is 2.5 MB, which takes an event loop longer than all requests of other callers in
 * the meantime. Fields of a message may be read and written in parts, because parts one after the other are the message
 * (https://protobuf.dev/programming-guides/encoding/, Last One Wins).
 */

/** Bytes that are decoded at a time; some of the largest answers have a single field, which is not cut. */
const PART_BYTES = 32 * 1024;
/** Messages of a list that are encoded at a time. */
const PART_MESSAGES = 8;

type LongList = { readonly name: string; readonly list: readonly object[]; readonly schema: DescMessage };

function longListsOf(schema: DescMessage, fields: Readonly<Record<string, unknown>>): LongList[] {
  return schema.fields.flatMap((field) => {
    if (field.fieldKind !== "list" || field.listKind !== "message") return [];
    const list = fields[field.localName];
    return Array.isArray(list) && list.length > PART_MESSAGES
      ? [{ name: field.localName, list: list as object[], schema: field.message }]
      : [];
  });
}

/** Creates a message, those of long lists in turns with other work of the process. */
export async function createMessage<Schema extends DescMessage>(
  schema: Schema,
  init: object,
): Promise<MessageShape<Schema>> {
  const fields = init as Readonly<Record<string, unknown>>;
  const long = isMessage(init, schema) ? [] : longListsOf(schema, fields);
  if (long.length === 0) return create(schema, init as never);
  const lists: Record<string, unknown> = {};
  for (const { name, list, schema: item } of long) {
    lists[name] = await mapInTurns(list, (one) => create(item, one as never));
  }
  return create(schema, { ...fields, ...lists } as never);
}

/** Encodes a message, or its initializer; long lists of messages in turns with other work of the process. */
export async function encodeMessage(schema: DescMessage, message: object): Promise<Uint8Array> {
  const fields = message as Readonly<Record<string, unknown>>;
  const lists = longListsOf(schema, fields);
  const encode = (part: object): Uint8Array => toBinary(schema, create(schema, part as never));
  if (lists.length === 0) return encode(message);
  const parts = [encode({ ...fields, ...Object.fromEntries(lists.map(({ name }) => [name, []])) })];
  const pauseIfLong = createPauses();
  for (const { name, list } of lists) {
    for (let i = 0; i < list.length; i += PART_MESSAGES) {
      const pause = pauseIfLong();
      if (pause !== undefined) await pause;
      parts.push(encode({ [name]: list.slice(i, i + PART_MESSAGES) }));
    }
  }
  return Buffer.concat(parts);
}

/** Decodes a message; a large one in turns with other work of the process. @throws Error for bytes that are not a message */
export async function decodeMessage<Schema extends DescMessage>(
  schema: Schema,
  bytes: Uint8Array,
): Promise<MessageShape<Schema>> {
  if (bytes.length <= PART_BYTES) return fromBinary(schema, bytes);
  const message = create(schema);
  const pauseIfLong = createPauses();
  const reader = new BinaryReader(bytes);
  for (let start = 0; start < bytes.length; start = reader.pos) {
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
    do {
      const [field, type] = reader.tag();
      reader.skip(type, field);
    } while (reader.pos < bytes.length && reader.pos - start < PART_BYTES);
    mergeFromBinary(schema, message, bytes.subarray(start, reader.pos));
  }
  return message;
}
