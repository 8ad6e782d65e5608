import type { FastifyReply } from "fastify";
import { AppError } from "@tidemark/errors";

/** Which bytes of a file an answer has: all of them, or those from `start` up to but not including `end`; or none, because no such bytes exist. */
type ChosenRange = "whole" | "unsatisfiable" | { readonly start: number; readonly end: number };

const unitShape = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(.*)$/s;

const partShape = /^(?:(\d+)-(\d*)|-(\d+))$/;

/**
 * Reads a `Range` header for a file of `size` bytes (RFC 9110 §14). Units other than bytes are ignored, several ranges are answered with the whole
 * file, and a malformed header cannot be satisfied.
 */
export function chooseRange(header: string | undefined, size: number): ChosenRange {
  const text = header?.trim() ?? "";
  if (text === "") return "whole";
  const [, unit, set] = unitShape.exec(text) ?? [];
  if (unit === undefined || set === undefined) return "unsatisfiable";
  if (unit.toLowerCase() !== "bytes") return "whole";
  // Empty items of a list are ignored (RFC 9110 §5.6.1).
  const parts = set.split(",").flatMap((part) => {
    const trimmed = part.replaceAll(/^[\t ]+|[\t ]+$/g, "");
    return trimmed === "" ? [] : [readPart(trimmed, size)];
  });
  if (parts.length === 0 || parts.includes("malformed")) return "unsatisfiable";
  const satisfiable = parts.filter((part) => typeof part === "object");
  if (satisfiable.length === 0) return "unsatisfiable";
  return parts.length > 1 ? "whole" : satisfiable[0]!;
}

function readPart(
  text: string,
  size: number,
): "malformed" | "unsatisfiable" | { readonly start: number; readonly end: number } {
  const match = partShape.exec(text);
  if (match === null) return "malformed";
  const [, first, last, suffix] = match;
  if (first === undefined) {
    const count = Math.min(Number(suffix), size);
    return count === 0 ? "unsatisfiable" : { start: size - count, end: size };
  }
  const start = Number(first);
  const end = last === "" || last === undefined ? size : Number(last) + 1;
  if (end <= start && last !== "") return "malformed";
  return start >= size ? "unsatisfiable" : { start, end: Math.min(end, size) };
}

/** Bytes of a file, from `start` up to but not including `end`; `isPart` where the client asked for a part of it. */
export type ChosenSpan = {
  readonly start: number;
  readonly end: number;
  readonly isPart: boolean;
  readonly sizeBytes: number;
};

/** Chooses the bytes that `Range` asks for, or all of them without `Range`. @throws range_not_satisfiable */
export function chooseSpan(range: string | undefined, sizeBytes: number, reply: FastifyReply): ChosenSpan {
  const chosen = chooseRange(range, sizeBytes);
  if (chosen === "unsatisfiable") {
    reply.header("content-range", `bytes */${sizeBytes}`);
    throw new AppError("range_not_satisfiable", `the range is not available: the file has ${sizeBytes} bytes`);
  }
  if (chosen === "whole") return { start: 0, end: sizeBytes, isPart: false, sizeBytes };
  return { ...chosen, isPart: true, sizeBytes };
}

/** Sets the headers about the answer's bytes: their number, and their range if they are a part. */
export function announceSpan({ start, end, isPart, sizeBytes }: ChosenSpan, reply: FastifyReply): void {
  reply.header("content-length", String(end - start));
  if (isPart) reply.code(206).header("content-range", `bytes ${start}-${end - 1}/${sizeBytes}`);
}

/** Most tags of one request that are read. */
const TAGS_MAX = 100;

/** One member of the list: an entity tag or nothing (RFC 9110, Entity Tags and Lists). */
const MEMBER = /[ \t]*(?:(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/y;

const OURS = /^[\w-]+$/;

/**
 * Returns the tags that a client names in If-None-Match, without quotes and the prefix `W/`, because they are compared
 * weakly (RFC 9110, If-None-Match); `["*"]` for any. Our tags are URL-safe text; others are left out. A header that is
 * not a list of tags counts as absent.
 */
export function readIfNoneMatch(field: string | undefined): readonly string[] {
  if (field === undefined) return [];
  if (field.trim() === "*") return ["*"];
  const tags: string[] = [];
  MEMBER.lastIndex = 0;
  while (MEMBER.lastIndex < field.length) {
    const member = MEMBER.exec(field);
    if (member === null) return [];
    const tag = member[1];
    if (tag !== undefined && OURS.test(tag) && tags.length < TAGS_MAX) tags.push(tag);
  }
  return tags;
}

/** Returns the value of the ETag header for a tag of URL-safe text. It is weak because the answer may be compressed and numbers may be written in other ways. */
export function weakTag(tag: string): string {
  return `W/"${tag}"`;
}
