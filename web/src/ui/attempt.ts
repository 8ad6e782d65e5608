import { faultOf } from "./fault.ts";
import { toast } from "./toasts.ts";

/** Does something and reports a failure in a note. */
export async function attempt(what: () => Promise<void>, then: () => void = () => undefined): Promise<void> {
  try {
    await what();
    then();
  } catch (error) {
    toast(faultOf(error).text, { kind: "bad" });
  }
}
