/** The kinds of setting that exist; the kind decides how the text of the variable is read. */
export type FieldKind = "text" | "int" | "bool" | "url" | "list" | "secret";

/** The type of a setting after it was read. */
export type FieldValue = string | number | boolean | readonly string[] | undefined;

/** The outcome of reading one variable: the value, or one clause that says what is wrong with it ("must be ..."). */
export type FieldReading<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: string };

/**
 * One setting: the environment variable that carries it, what it means, and how its text is read.
 * `required` is true if the field has no default and is not optional. `bounds` is prose for the documentation.
 * `read` never puts the text of a secret or of a URL (which may carry a password) into a fault.
 */
export type Field<T> = {
  readonly kind: FieldKind;
  readonly env: string;
  readonly help: string;
  readonly default: T | undefined;
  readonly required: boolean;
  readonly bounds: string;
  readonly read: (text: string) => FieldReading<T>;
};

type Common<T> = {
  /** Name of the environment variable, upper case. A secret is also read from the file that `<env>_FILE` names. */
  readonly env: string;
  /** One sentence for the reader of the documentation; name units here and in the variable. */
  readonly help: string;
  readonly default?: T;
  /** The setting is `undefined` instead of a fault if it is not set and has no default. */
  readonly optional?: boolean;
};

/** `T`, or also `undefined` for a field marked `optional: true`. */
type Presence<T, O> = O extends { optional: true } ? T | undefined : T;

export type TextOptions<V extends string = string> = Common<V> & {
  /** The only values accepted; they also become the type of the setting. */
  readonly oneOf?: readonly V[];
  readonly pattern?: RegExp;
  /** Longest accepted text, in UTF-16 code units; 4,096 if left out. */
  readonly lengthMax?: number;
};
export type IntOptions = Common<number> & { readonly min: number; readonly max: number };
export type BoolOptions = Common<boolean>;
export type UrlOptions = Common<string> & {
  /** Accepted schemes without the colon; `http` and `https` if left out. */
  readonly schemes?: readonly string[];
};
export type ListOptions = Common<readonly string[]> & {
  readonly itemPattern?: RegExp;
  /** Most items accepted; 100 if left out. */
  readonly itemsMax?: number;
};
export type SecretOptions = Common<string> & {
  /** Fewest characters; 1 if left out. */
  readonly lengthMin?: number;
  /** If given, the secret must be a URL with one of these schemes (a database URL has a password). */
  readonly schemes?: readonly string[];
};

/** A text, used unchanged; bounded by `oneOf`, `pattern` and `lengthMax`. */
export function text<const V extends string, const O extends { optional?: boolean }>(
  options: TextOptions<V> & { readonly oneOf: readonly V[] } & O,
): Field<Presence<V, O>>;
export function text<const O extends TextOptions>(options: O): Field<Presence<string, O>>;
export function text(options: TextOptions): Field<string> {
  const { oneOf, pattern, lengthMax = 4096 } = options;
  const bounds = oneOf
    ? `one of ${oneOf.join(", ")}`
    : pattern
      ? `matches ${pattern.source}`
      : `at most ${lengthMax} characters`;
  return field("text", options, bounds, (raw) => {
    if (raw.length > lengthMax) return fault(`must have at most ${lengthMax} characters`);
    if (oneOf && !oneOf.includes(raw)) return fault(`must be one of ${oneOf.join(", ")}, not ${quote(raw)}`);
    if (pattern && !pattern.test(raw)) return fault(`must match ${pattern.source}, unlike ${quote(raw)}`);
    return { ok: true, value: raw };
  });
}

/** A whole number in decimal, between `min` and `max`, both included. */
export function int<const O extends IntOptions>(options: O): Field<Presence<number, O>>;
export function int(options: IntOptions): Field<number> {
  const { min, max } = options;
  const bounds = `${min} to ${max}`;
  return field("int", options, bounds, (raw) => {
    const value = /^[+-]?\d+$/.test(raw) ? Number(raw) : Number.NaN;
    if (!Number.isSafeInteger(value) || value < min || value > max)
      return fault(`must be a whole number from ${bounds}, not ${quote(raw)}`);
    return { ok: true, value };
  });
}

const boolWords: ReadonlyMap<string, boolean> = new Map([
  ["1", true],
  ["true", true],
  ["on", true],
  ["yes", true],
  ["0", false],
  ["false", false],
  ["off", false],
  ["no", false],
]);

/** A switch: `1`, `true`, `on`, `yes` or `0`, `false`, `off`, `no`, in any letter case. */
export function bool<const O extends BoolOptions>(options: O): Field<Presence<boolean, O>>;
export function bool(options: BoolOptions): Field<boolean> {
  return field("bool", options, "1, true, on, yes or 0, false, off, no", (raw) => {
    const value = boolWords.get(raw.toLowerCase());
    return value === undefined ? fault(`must be 1 or 0, not ${quote(raw)}`) : { ok: true, value };
  });
}

/** An absolute URL with one of the accepted schemes, kept as it was written. */
export function url<const O extends UrlOptions>(options: O): Field<Presence<string, O>>;
export function url(options: UrlOptions): Field<string> {
  const schemes = options.schemes ?? ["http", "https"];
  return field("url", options, schemeBounds(schemes), (raw) => readUrl(raw, schemes));
}

/** Texts separated by commas; spaces around items and empty items are dropped. */
export function list<const O extends ListOptions>(options: O): Field<Presence<readonly string[], O>>;
export function list(options: ListOptions): Field<readonly string[]> {
  const { itemPattern, itemsMax = 100 } = options;
  const bounds = `at most ${itemsMax} items${itemPattern ? `, each matches ${itemPattern.source}` : ""}`;
  return field("list", options, bounds, (raw) => {
    const items = raw
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
    if (items.length > itemsMax) return fault(`must have at most ${itemsMax} items, not ${items.length}`);
    const odd = itemPattern && items.find((item) => !itemPattern.test(item));
    if (odd !== undefined) return fault(`has an item that does not match ${itemPattern?.source}: ${quote(odd)}`);
    return { ok: true, value: items };
  });
}

/**
 * A text that is never shown, neither in a fault nor in the documentation. It may come from the file that `<env>_FILE`
 * names.
 */
export function secret<const O extends SecretOptions>(options: O): Field<Presence<string, O>>;
export function secret(options: SecretOptions): Field<string> {
  const { lengthMin = 1, schemes } = options;
  const bounds = schemes ? schemeBounds(schemes) : `at least ${lengthMin} characters`;
  return field("secret", options, bounds, (raw) => {
    if (raw.length < lengthMin) return fault(`must have at least ${lengthMin} characters`);
    return schemes ? readUrl(raw, schemes) : { ok: true, value: raw };
  });
}

function field<T>(
  kind: FieldKind,
  options: Common<T>,
  bounds: string,
  read: (raw: string) => FieldReading<T>,
): Field<T> {
  if (!/^[A-Z][A-Z0-9_]*$/.test(options.env)) throw new TypeError(`"${options.env}" is no name of a variable`);
  return {
    kind,
    env: options.env,
    help: options.help,
    default: options.default,
    required: options.default === undefined && options.optional !== true,
    bounds,
    read,
  };
}

function readUrl(raw: string, schemes: readonly string[]): FieldReading<string> {
  const scheme = URL.canParse(raw) ? new URL(raw).protocol.slice(0, -1) : undefined;
  if (scheme === undefined || !schemes.includes(scheme)) return fault(`must be a ${schemeBounds(schemes)}`);
  return { ok: true, value: raw };
}

function schemeBounds(schemes: readonly string[]): string {
  return `URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`;
}

function fault(text: string): { readonly ok: false; readonly fault: string } {
  return { ok: false, fault: text };
}

/** Quotes and shortens a text, so that a pasted page does not fill the terminal. */
function quote(raw: string): string {
  return JSON.stringify(raw.length > 40 ? `${raw.slice(0, 40)}…` : raw);
}
