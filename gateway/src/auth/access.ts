import { AppError } from "@tidemark/errors";
import type { CredentialKind, LookupCredentialResponse } from "@tidemark/proto/control/v1/control";
import { LRUCache } from "lru-cache";
import type { Directory, KnownCredential } from "./directory.ts";

/** Finds credentials: in memory, and where memory does not say, at the control service. */
export type Access = {
  /** What memory says; `undefined` when it does not know the credential or is too old to be believed. */
  readonly known: (kind: CredentialKind, id: string) => KnownCredential | undefined;
  /**
   * Asks the control service; `undefined` when there is no such credential.
   * @throws service_unavailable when it cannot be asked: in doubt nobody is turned away for good.
   */
  readonly lookUp: (kind: CredentialKind, id: string) => Promise<KnownCredential | undefined>;
};

/** For how long a credential that does not exist is not asked for again. */
const UNKNOWN_MS = 1000;
const UNKNOWN_MAX = 10_000;

/** Makes the access; `ask` calls the control service, `fresh` tells whether the directory may be believed. */
export function createAccess(options: {
  readonly directory: Directory;
  readonly fresh: () => boolean;
  readonly ask: (kind: CredentialKind, id: string) => Promise<LookupCredentialResponse>;
  readonly nowMs: () => number;
}): Access {
  const { directory, fresh, ask, nowMs } = options;
  const asked = new Map<string, Promise<KnownCredential | undefined>>();
  const unknownUntil = new LRUCache<string, number>({ max: UNKNOWN_MAX });

  const askOnce = async (kind: CredentialKind, id: string, key: string): Promise<KnownCredential | undefined> => {
    const { entry, organization } = await ask(kind, id).catch((cause: unknown) => {
      throw new AppError("service_unavailable", "credentials cannot be checked at the moment; try again", {
        retryAfterSeconds: 1,
        cause,
      });
    });
    if (entry === undefined || organization === undefined) {
      unknownUntil.set(key, nowMs() + UNKNOWN_MS);
      return undefined;
    }
    directory.putMissing({ organizations: [organization], credentials: [entry] });
    return { entry, organization };
  };

  return {
    known: (kind, id) => (fresh() ? directory.find(kind, id) : undefined),
    lookUp(kind, id) {
      const key = `${kind}:${id}`;
      if ((unknownUntil.get(key) ?? 0) > nowMs()) return Promise.resolve(undefined);
      let answer = asked.get(key);
      if (answer === undefined) {
        answer = askOnce(kind, id, key).finally(() => asked.delete(key));
        asked.set(key, answer);
      }
      return answer;
    },
  };
}
