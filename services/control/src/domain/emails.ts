import { badRequest } from "@tidemark/errors";

const lengthMax = 254;
// One @, no blanks, something on both sides: whether it exists only a message can tell.
const shape = /^[^\s@<>"(),:;\\[\]]+@[^\s@<>"(),:;\\[\]]+$/;

/** An address in lower case. `field` is how the caller knows it. @throws bad_request */
export function readEmail(text: string, field = "email"): string {
  const email = text.trim().toLowerCase();
  if (email.length > lengthMax || !shape.test(email)) throw badRequest(`${field} must be an e-mail address`, field);
  return email;
}

/** Enough of an address for its owner to recognise it: `a***@example.org`. */
export function emailHint(email: string): string {
  const [first = ""] = email;
  return `${first}***${email.slice(email.indexOf("@"))}`;
}
