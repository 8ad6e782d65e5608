import { TestEnvironment } from "jest-environment-node";

/**
 * Jest runs a test file in a realm of its own, whose `Error` is not the `Error` that Node's own modules throw, so
 * `instanceof Error` is false for a refused connection or a missing file and code that asks takes another path than it
 * does in production. Here the sandbox's `Error` accepts every native error; subclasses keep the default question.
 */
export default class Environment extends TestEnvironment {
  constructor(...given: ConstructorParameters<typeof TestEnvironment>) {
    super(...given);
    const { Error: SandboxError, Function: SandboxFunction } = this.global;
    const byPrototype = SandboxFunction.prototype[Symbol.hasInstance];
    Object.defineProperty(SandboxError, Symbol.hasInstance, {
      configurable: true,
      value(this: unknown, candidate: unknown) {
        return byPrototype.call(this as object, candidate) || (this === SandboxError && Error.isError(candidate));
      },
    });
  }
}
