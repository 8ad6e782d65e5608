import type { Address, Mode } from "./attach.ts";

declare global {
  /** Returns the address of the stack that the test files of this worker share, which the first one of them starts. */
  var tidemarkSharedStack: (mode: Mode) => Promise<Address>;
}

const addresses = new Map<Mode, Promise<Address>>();

/** Starts the stack of a mode once in this worker. Its processes end with the worker, its folder with the test run. */
export function sharedStack(mode: Mode): Promise<Address> {
  let address = addresses.get(mode);
  if (address === undefined) {
    address = start(mode);
    addresses.set(mode, address);
  }
  return address;
}

async function start(mode: Mode): Promise<Address> {
  const { startStack } = await import("./stack.ts");
  return (await startStack(mode, { parentDirectory: process.env["TIDEMARK_TEST_STACKS"] })).address;
}
