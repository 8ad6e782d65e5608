/** Takes the token out of the fragment of the address, where servers and logs never see it, and out of the history. */
export function takeToken(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null || token === "") return undefined;
  history.replaceState(undefined, "", `${location.pathname}${location.search}`);
  return token;
}
