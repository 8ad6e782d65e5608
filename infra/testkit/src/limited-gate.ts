import { AppError } from "@tidemark/errors";

/** Returns a gate of a plan that admits `limit` units, and then refuses as the real one does. `admitted` is the amount it has admitted. */
export function limitedGate(limit: number) {
  return {
    admitted: 0,
    admit(_owner: unknown, amount: number): undefined {
      if (this.admitted + amount > limit) throw new AppError("plan_limit_exceeded", "too much");
      this.admitted += amount;
    },
  };
}
