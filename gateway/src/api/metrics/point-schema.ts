import type { Schema } from "../../route.ts";

const step: Schema = { type: "number", minimum: 0 };

/** A point as it is answered. */
export const pointSchema: Schema = {
  type: "object",
  required: ["key", "step", "value", "created_at"],
  properties: {
    key: { type: "string" },
    step,
    value: { type: "number" },
    created_at: { type: "string", format: "date-time", description: "When the server received the point." },
    timestamp: { type: "string", format: "date-time", description: "The client's time, where it sent one." },
  },
};
