import type { ChangePublisher } from "@tidemark/bus";
import type { Db } from "@tidemark/pg";
import type { Plans } from "@tidemark/limits";
import type { ControlService } from "@tidemark/proto/control/v1/control";
import type { Handlers } from "@tidemark/rpc";
import type { Mail } from "./mail/mail.ts";
import type { Admission } from "./oidc/oidc.rules.ts";
import type { Provider } from "./oidc/provider.ts";
import type { RunDirectory } from "./stops/run-directory.ts";

/** The dependencies of the handlers. Time, ids and random bytes are arguments, so that tests can choose them. */
export type ControlDeps = {
  readonly db: Db;
  readonly mail: Mail;
  readonly runs: RunDirectory;
  readonly now: () => Date;
  /** A new random UUID. */
  readonly newId: () => string;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Notifies the relay that a committed transaction has left a message. */
  readonly wakeRelay: () => void;
  /** Called with committed changes to runs. */
  readonly noteChange: ChangePublisher["note"];
  readonly settings: {
    /** What each plan includes. */
    readonly plans: Plans;
    /** Whether any person may sign in by an address alone. */
    readonly devAuth: boolean;
    /** Whether the number of seats, which is a quota of the plan, is enforced. */
    readonly seatLimits: boolean;
    /** Where the web pages are, without a trailing slash; the address of the request when undefined. */
    readonly webUrl: string | undefined;
    /** Where people sign in by OpenID Connect, and who is admitted; undefined where no provider is set. */
    readonly oidc: { readonly provider: Provider; readonly admission: Admission } | undefined;
    /** Days during which a deleted organization can be restored. */
    readonly graceDays: number;
  };
};

/** A handler for each RPC of the service. */
export type ControlHandlers = Handlers<(typeof ControlService)["method"]>;

/** Returns the address of the web pages without a trailing slash: the configured one, else the one of the request (`baseUrl`). */
export function webAddress({ settings }: ControlDeps, baseUrl: string): string {
  return (settings.webUrl ?? baseUrl).replace(/\/+$/, "");
}
