export { bool, int, list, secret, text, url } from "./fields.ts";
export type {
  BoolOptions,
  Field,
  FieldKind,
  FieldReading,
  FieldValue,
  IntOptions,
  ListOptions,
  SecretOptions,
  TextOptions,
  UrlOptions,
} from "./fields.ts";
export { defineConfig, sharedFields } from "./define-config.ts";
export type { ConfigGroup, ConfigGroups, ConfigOf } from "./define-config.ts";
export { ConfigError, configNames, parseConfig } from "./parse-config.ts";
export type { Environment } from "./parse-config.ts";
export { renderConfigTable } from "./render-config-table.ts";
