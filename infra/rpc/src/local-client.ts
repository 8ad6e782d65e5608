import { create } from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import { createMessage } from "./messages.ts";
import { observed, streamed, withinDeadline, type CallObserver } from "./invoke.ts";
import { answerOf, methodsOf, streamOf, type Client, type Implementation } from "./service.ts";
import type { Call } from "./call.ts";

/**
 * Makes a client of a service in this process: the handler gets the message itself, nothing is
 * encoded. Errors arrive as the handler threw them, as they do over the network.
 */
export function createLocalClient<S extends GenServiceMethods>(
  service: GenService<S>,
  implementation: Implementation,
  observer?: CallObserver,
): Client<S> {
  const client: Record<string, unknown> = {};
  for (const [name, method] of methodsOf(implementation.service)) {
    const handler = implementation.handlers[name];
    if (handler === undefined) throw new Error(`${service.typeName} has no handler for ${name}`);
    const facts = { service: service.typeName, method: method.name, side: "server" as const };
    const messageOf = (request: object): object => create(method.input, request as never);
    const answer = (request: object, call: Call) =>
      observed(observer, facts, () =>
        withinDeadline(call, async () =>
          createMessage(method.output, await answerOf(handler, messageOf(request), call)),
        ),
      );
    const stream = async function* (request: object, call: Call): AsyncGenerator<object, void, undefined> {
      const open = () => streamOf(handler, messageOf(request), call);
      for await (const message of streamed(call, observer, facts, open)) yield create(method.output, message as never);
    };
    client[name] = method.methodKind === "unary" ? answer : stream;
  }
  return client as Client<S>;
}
