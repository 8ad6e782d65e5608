import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Call } from "./call.ts";

type UnaryOf<M> = M extends { methodKind: "unary"; input: infer I; output: infer O }
  ? I extends DescMessage
    ? O extends DescMessage
      ? { input: I; output: O }
      : never
    : never
  : never;

/** One RPC: takes the decoded request, returns the answer's fields, throws `AppError`. */
export type Handler<I extends DescMessage, O extends DescMessage> = (
  request: MessageShape<I>,
  call: Call,
) => Promise<MessageInitShape<O>>;

/** A handler for every RPC of a service; leaving one out is a type error. */
export type Handlers<S extends GenServiceMethods> = {
  [K in keyof S]: Handler<UnaryOf<S[K]>["input"], UnaryOf<S[K]>["output"]>;
};

/** How other modules call a service, in the same process or another. */
export type Client<S extends GenServiceMethods> = {
  [K in keyof S]: (
    request: MessageInitShape<UnaryOf<S[K]>["input"]>,
    call: Call,
  ) => Promise<MessageShape<UnaryOf<S[K]>["output"]>>;
};

/** A service with its handlers, ready to be served or called. */
export type Implementation = {
  readonly service: GenService<GenServiceMethods>;
  readonly handlers: Readonly<Record<string, (request: never, call: Call) => Promise<object>>>;
};

/** Pairs a generated service with its handlers. */
export function implement<S extends GenServiceMethods>(service: GenService<S>, handlers: Handlers<S>): Implementation {
  return { service, handlers };
}

/** The unary methods of a service by their local names (`createRun`). */
export function unaryMethods(service: GenService<GenServiceMethods>): [string, DescMethodUnary][] {
  return Object.entries(service.method).map(([name, method]) => {
    if (method.methodKind !== "unary") throw new Error(`${service.typeName}.${name} is not unary`);
    return [name, method as unknown as DescMethodUnary];
  });
}
