import { TestEnvironment } from "jest-environment-node";
import { sharedStack } from "./shared-stacks.ts";

/**
 * Jest runs a test file in its own realm, whose `Error` is not the `Error` that Node's own modules throw: `instanceof Error`
 * would be false for a refused connection or a missing file, and code that asks would take another path than in production.
 * Here the sandbox's `Error` accepts every native error; subclasses keep the default behavior.
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
    this.global.tidemarkSharedStack = sharedStack;
  }
}
