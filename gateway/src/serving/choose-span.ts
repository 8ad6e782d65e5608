import type { FastifyReply } from "fastify";
import { AppError } from "@tidemark/errors";
import { chooseRange } from "../http/range.ts";

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
