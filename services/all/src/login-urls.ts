import { ConfigError } from "@tidemark/host/config";
import { rolesOf } from "@tidemark/host";
import type { Login } from "@tidemark/pg";
import { allModules } from "./modules.ts";

/**
 * Returns the logins that `TIDEMARK_LOGIN_URLS` names, with the roles of their modules.
 *
 * @throws ConfigError for a text that is not a list of modules with a database and their URLs; it shows no URL
 */
export function loginsOf(text: string): readonly Login[] {
  const named = new Set<string>();
  return text.split(/\s+/).flatMap((item) => {
    if (item === "") return [];
    const [name = "", url = ""] = splitAtFirst(item, "=");
    const module = allModules.find((one) => one.name === name && one.schema !== undefined);
    if (module === undefined) throw fault("names something else than a module with a database");
    if (named.has(name)) throw fault(`names ${name} twice`);
    if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) throw fault(`has no postgres:// URL for ${name}`);
    named.add(name);
    return [{ url, roles: rolesOf([module]) }];
  });
}

function splitAtFirst(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

function fault(what: string): ConfigError {
  return new ConfigError([`TIDEMARK_LOGIN_URLS ${what}`]);
}
