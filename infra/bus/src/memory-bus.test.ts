import { describe } from "@jest/globals";
import { busContract } from "./bus.contract.ts";
import { createMemoryBus } from "./index.ts";

describe("the bus inside one process", () => {
  busContract(async () => {
    const bus = createMemoryBus();
    return { here: bus, there: bus };
  });
});
