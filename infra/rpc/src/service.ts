import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Call } from "./call.ts";

/** One RPC: takes the decoded request, returns the answer's fields, throws `AppError`. */
export type Handler<I extends DescMessage, O extends DescMessage> = (
  request: MessageShape<I>,
  call: Call,
) => Promise<MessageInitShape<O>>;

/**
 * One RPC that answers with a stream of messages. It is asked for the next one when the caller has room for it, and its `finally` runs when the
 * caller wants no more, has left, or the deadline is over.
 */
export type StreamHandler<I extends DescMessage, O extends DescMessage> = (
  request: MessageShape<I>,
  call: Call,
) => AsyncGenerator<MessageInitShape<O>, void, undefined>;

type HandlerOf<M> = M extends { methodKind: infer K; input: infer I; output: infer O }
  ? I extends DescMessage
    ? O extends DescMessage
      ? K extends "server_streaming"
        ? StreamHandler<I, O>
        : Handler<I, O>
      : never
    : never
  : never;

type CallerOf<M> = M extends { methodKind: infer K; input: infer I; output: infer O }
  ? I extends DescMessage
    ? O extends DescMessage
      ? K extends "server_streaming"
        ? (request: MessageInitShape<I>, call: Call) => AsyncGenerator<MessageShape<O>, void, undefined>
        : (request: MessageInitShape<I>, call: Call) => Promise<MessageShape<O>>
      : never
    : never
  : never;

/** A handler for every RPC of a service; leaving one out is a type error. */
export type Handlers<S extends GenServiceMethods> = { [K in keyof S]: HandlerOf<S[K]> };

/** How peers call a service, in any process. */
export type Client<S extends GenServiceMethods> = { [K in keyof S]: CallerOf<S[K]> };

type AnyHandler = (request: never, call: Call) => Promise<object> | AsyncGenerator<object, void, undefined>;

/** A service with its handlers, ready to be served or called. */
export type Implementation = {
  readonly service: GenService<GenServiceMethods>;
  readonly handlers: Readonly<Record<string, AnyHandler>>;
};

/** Pairs a generated service with its handlers. */
export function implement<S extends GenServiceMethods>(service: GenService<S>, handlers: Handlers<S>): Implementation {
  return { service, handlers };
}

/** A method of a service: one answer, or a stream of them. */
export type Method = DescMethodUnary | DescMethodServerStreaming;

/**
 * Returns the methods of a service with their local names (`createRun`).
 * @throws Error for a method that takes a stream
 */
export function methodsOf(service: GenService<GenServiceMethods>): [string, Method][] {
  return Object.entries(service.method).map(([name, method]) => {
    const { methodKind } = method as { methodKind: string };
    if (methodKind !== "unary" && methodKind !== "server_streaming") {
      throw new Error(`${service.typeName}.${name} takes a stream`);
    }
    return [name, method as unknown as Method];
  });
}

/** Calls the handler of a method with one answer. */
export function answerOf(handler: AnyHandler, request: object, call: Call): Promise<object> {
  return handler(request as never, call) as Promise<object>;
}

/** Calls the handler of a method that answers with a stream. */
export function streamOf(handler: AnyHandler, request: object, call: Call): AsyncGenerator<object, void, undefined> {
  return handler(request as never, call) as AsyncGenerator<object, void, undefined>;
}
