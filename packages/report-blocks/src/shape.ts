/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** The required form of a value: a check, and the equivalent JSON Schema. */
export type Shape = {
  readonly schema: Schema;
  /** Returns what is wrong with the value, as a text that begins with `path`; undefined: nothing. */
  readonly faultOf: (value: unknown, path: string) => string | undefined;
};

/** The members of an object under their names. */
export type Members = Readonly<Record<string, Shape>>;

const json = JSON as unknown as { isRawJSON(value: unknown): value is { readonly rawJSON: string } };

/** Returns whether a value is a JSON object, and not a number that keeps its digits (TC39, JSON.parse source text access). */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !json.isRawJSON(value);
}

function numberOf(value: unknown): number | undefined {
  if (json.isRawJSON(value)) return Number(value.rawJSON);
  return typeof value === "number" ? value : undefined;
}

// What `String.prototype.trim` removes, as a class that means the same in every dialect of regular expressions.
const WHITE = "\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";

/** A text, which may be empty. */
export const text: Shape = {
  schema: { type: "string" },
  faultOf: (value, path) => (typeof value === "string" ? undefined : `${path} must be a text`),
};

/** A text that is not only white space. */
export const filledText: Shape = {
  schema: { type: "string", pattern: `[^${WHITE}]` },
  faultOf: (value, path) =>
    text.faultOf(value, path) ?? ((value as string).trim() === "" ? `${path} must not be blank` : undefined),
};

export const truth: Shape = {
  schema: { type: "boolean" },
  faultOf: (value, path) => (typeof value === "boolean" ? undefined : `${path} must be true or false`),
};

/** One of the words, exactly as written. */
export function oneOf(...words: readonly string[]): Shape {
  return {
    schema: { type: "string", enum: words },
    faultOf: (value, path) =>
      words.includes(value as string) ? undefined : `${path} must be one of ${words.join(", ")}`,
  };
}

/** A whole number from `min` to `max`. */
export function whole(min: number, max: number = Number.MAX_SAFE_INTEGER): Shape {
  return {
    schema: { type: "integer", minimum: min, maximum: max },
    faultOf: (value, path) => {
      const found = numberOf(value);
      const fits = found !== undefined && Number.isInteger(found) && found >= min && found <= max;
      return fits ? undefined : `${path} must be a whole number from ${min} to ${max}`;
    },
  };
}

/** A list of any length. */
export function listOf(item: Shape): Shape {
  return {
    schema: { type: "array", items: item.schema },
    faultOf: (value, path) => {
      if (!Array.isArray(value)) return `${path} must be a list`;
      return firstFault(value.entries(), ([i, part]) => item.faultOf(part, `${path}[${i}]`));
    },
  };
}

/** An object with any names, each with such a value. */
export function mapOf(item: Shape): Shape {
  return {
    schema: { type: "object", additionalProperties: item.schema },
    faultOf: (value, path) => {
      if (!isObject(value)) return `${path} must be an object`;
      return firstFault(Object.entries(value), ([name, part]) => item.faultOf(part, `${path}.${name.slice(0, 100)}`));
    },
  };
}

/** An object that has the first members, and the second ones unless they are absent or null. It may have more. */
export function objectOf(required: Members, optional: Members = {}): Shape {
  return {
    schema: {
      type: "object",
      ...(Object.keys(required).length === 0 ? {} : { required: Object.keys(required) }),
      properties: {
        ...schemasOf(required),
        ...schemasOf(optional, ({ schema }) => ({ anyOf: [schema, { type: "null" }] })),
      },
    },
    faultOf: (value, path) => {
      if (!isObject(value)) return `${path} must be an object`;
      const missing = (name: string): boolean => !Object.hasOwn(value, name) || value[name] === null;
      return (
        firstFault(Object.entries(required), ([name, member]) =>
          missing(name) ? `${path}.${name} is required` : member.faultOf(value[name], `${path}.${name}`),
        ) ??
        firstFault(Object.entries(optional), ([name, member]) =>
          missing(name) ? undefined : member.faultOf(value[name], `${path}.${name}`),
        )
      );
    },
  };
}

/** An object of one of several kinds, which the member `tag` names. */
export function taggedBy(tag: string, kinds: Readonly<Record<string, Shape>>): Shape {
  const words = Object.keys(kinds);
  const kind = oneOf(...words);
  return {
    schema: {
      anyOf: words.map((word) => {
        const { properties = {}, required = [], ...rest } = kinds[word]!.schema as ObjectSchema;
        return { ...rest, required: [tag, ...required], properties: { [tag]: { const: word }, ...properties } };
      }),
    },
    faultOf: (value, path) => {
      if (!isObject(value)) return `${path} must be an object`;
      const word = Object.hasOwn(value, tag) ? value[tag] : undefined;
      return kind.faultOf(word, `${path}.${tag}`) ?? kinds[word as string]!.faultOf(value, path);
    },
  };
}

/** An object that matches at least one of several shapes. `fault` says what it needs, after its path. */
export function someOf(shapes: readonly Shape[], fault: string): Shape {
  return {
    schema: { anyOf: shapes.map(({ schema }) => schema) },
    faultOf: (value, path) =>
      shapes.some((shape) => shape.faultOf(value, path) === undefined) ? undefined : `${path} ${fault}`,
  };
}

type ObjectSchema = {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
};

function schemasOf(members: Members, as: (shape: Shape) => Schema = ({ schema }) => schema): Record<string, Schema> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, as(member)]));
}

function firstFault<T>(parts: Iterable<T>, faultOf: (part: T) => string | undefined): string | undefined {
  for (const part of parts) {
    const fault = faultOf(part);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
