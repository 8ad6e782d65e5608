import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import Provider from "oidc-provider";

/** The provider's claims about a user. */
export type Account = { readonly sub: string; readonly [claim: string]: unknown };

/** A real OpenID Connect provider; the account in `signedIn` signs in without a prompt. */
export type IdentityProvider = {
  /** The account that signs in next; "nobody": the user declines. */
  signedIn: Account | "nobody";
  stop(): Promise<void>;
};

/** The client that a stack is. */
export const CLIENT = { id: "tidemark-tests", secret: "client-secret-for-tests-0123456789" };

const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
const HOUR_SECONDS = 3600;

/** Calls without the warnings of the library that what it keeps is in memory only, which is as it should be here. */
function quietly<T>(work: () => T): T {
  const { warn } = console;
  console.warn = () => {};
  try {
    return work();
  } finally {
    console.warn = warn;
  }
}

/** Starts a provider with one client, which requires PKCE. `port` is the issuer's. */
export async function startIdentityProvider(port: number, redirectUri: string): Promise<IdentityProvider> {
  const accounts = new Map<string, Account>();
  const state: IdentityProvider = { signedIn: "nobody", stop: () => Promise.resolve() };
  const provider = quietly(
    () =>
      new Provider(`http://127.0.0.1:${port}`, {
        jwks: { keys: [{ ...key, kid: "tests", use: "sig", alg: "RS256" }] },
        ttl: {
          Interaction: HOUR_SECONDS,
          Grant: HOUR_SECONDS,
          Session: HOUR_SECONDS,
          AccessToken: HOUR_SECONDS,
          IdToken: HOUR_SECONDS,
        },
        clients: [
          {
            client_id: CLIENT.id,
            client_secret: CLIENT.secret,
            redirect_uris: [redirectUri],
            token_endpoint_auth_method: "client_secret_post",
          },
        ],
        pkce: { required: () => true },
        cookies: { keys: ["keys-for-tests"] },
        claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "picture"] },
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_, { uid }) => `/interaction/${uid}` },
        findAccount: (_, id) => ({ accountId: id, claims: () => Promise.resolve(accounts.get(id)!) }),
        loadExistingGrant: async ({ oidc }) => {
          const grant = new oidc.provider.Grant({
            clientId: oidc.client!.clientId,
            accountId: oidc.session!.accountId!,
          });
          grant.addOIDCScope("openid email profile");
          await grant.save();
          return grant;
        },
      }),
  );
  const interact = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { signedIn } = state;
    if (signedIn === "nobody") return provider.interactionFinished(request, response, { error: "access_denied" });
    accounts.set(signedIn.sub, signedIn);
    return provider.interactionFinished(request, response, { login: { accountId: signedIn.sub, remember: false } });
  };
  const serve = provider.callback();
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/interaction/") === true) void interact(request, response);
    else void serve(request, response);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  state.stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return state;
}
