import type { Admission } from "./claims.rules.ts";

/** The OpenID Connect provider of an installation, and the client as which it knows us. */
export type ProviderSettings = {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client, which PKCE alone protects. */
  readonly clientSecret: string | undefined;
};

/** The variables that set the provider at which people sign in. */
export type OidcConfig = {
  readonly oidcIssuer: string | undefined;
  readonly oidcClientId: string | undefined;
  readonly oidcClientSecret: string | undefined;
  readonly oidcDomains: readonly string[];
  readonly oidcTrustEmail: boolean;
};

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Returns the faults that only combinations of variables have. */
export function oidcFaults({ oidcIssuer, oidcClientId }: OidcConfig): string[] {
  if (oidcIssuer === undefined)
    return oidcClientId === undefined ? [] : ["TIDEMARK_OIDC_CLIENT_ID needs TIDEMARK_OIDC_ISSUER"];
  const faults: string[] = [];
  const { protocol, hostname } = new URL(oidcIssuer);
  if (protocol !== "https:" && !loopback.has(hostname))
    faults.push("TIDEMARK_OIDC_ISSUER must be an https URL, except on this machine");
  if (oidcClientId === undefined) faults.push("TIDEMARK_OIDC_ISSUER needs TIDEMARK_OIDC_CLIENT_ID");
  return faults;
}

/** Returns where people sign in and who is admitted; undefined where no provider is set. The settings have no faults. */
export function oidcSettingsOf(config: OidcConfig): { provider: ProviderSettings; admission: Admission } | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId } = config;
  if (issuer === undefined || clientId === undefined) return undefined;
  return {
    provider: { issuer, clientId, clientSecret: config.oidcClientSecret },
    admission: {
      domains: config.oidcDomains.map((domain) => domain.toLowerCase()),
      trustsEmail: config.oidcTrustEmail,
    },
  };
}
