import { moduleState } from "./module-state.ts";
import { requestsInEffects } from "./requests.ts";

/** Our own rules for oxlint. */
export default {
  meta: { name: "tidemark" },
  rules: { "module-state": moduleState, "requests-in-effects": requestsInEffects },
};
