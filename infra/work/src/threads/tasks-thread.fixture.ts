import { badRequest } from "@tidemark/errors";
import { answerTasks } from "./answer-tasks.ts";

/** The tasks of the threads in tests. */
export type TestTask =
  | { readonly kind: "double"; readonly numbers: Float64Array<ArrayBuffer> }
  | { readonly kind: "wait until"; readonly flag: Int32Array }
  | { readonly kind: "refuse" }
  | { readonly kind: "fail" }
  | { readonly kind: "spin" };

// The entry of a thread that does these tasks.

answerTasks<TestTask, Float64Array | undefined>(async (task) => {
  switch (task.kind) {
    case "double": {
      const doubled = task.numbers.map((number) => 2 * number);
      return { value: doubled, transfer: [doubled.buffer] };
    }
    case "wait until":
      Atomics.wait(task.flag, 0, 0);
      return { value: undefined };
    case "refuse":
      throw badRequest("not this one", "field");
    case "fail":
      throw new Error("a fault of the program");
    case "spin":
      for (;;);
  }
});
