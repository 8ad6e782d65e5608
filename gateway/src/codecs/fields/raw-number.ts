/** A number whose digits a double cannot hold; `JSON.stringify` writes them as they came (TC39, JSON.parse source text access). */
export type RawNumber = { readonly rawJSON: string };

const json = JSON as unknown as {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): boolean;
};

/** Keeps the digits of a number in JSON's notation. @throws SyntaxError when the text is no JSON scalar */
export function rawNumber(text: string): RawNumber {
  return json.rawJSON(text);
}

/** Tells a kept number from an object that a client sent. */
export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON(value);
}
