/** An answer of the API that is kept; its tag asks the server whether it is still the same. */
export type Answer = { readonly tag: string; readonly body: unknown; readonly characters: number };

/** Answers that are kept, and characters of them; the least recently used go first. */
const ANSWERS_MAX = 100;
const CHARACTERS_MAX = 8_000_000;

const answers = new Map<string, Answer>();
let characters = 0;

/** Returns the answer that is kept under a name. */
export function keptAnswer(name: string): Answer | undefined {
  return answers.get(name);
}

/** Keeps an answer in place of the one before, unless it is a large part of all that may be kept. */
export function keepAnswer(name: string, answer: Answer): void {
  dropAnswer(name);
  if (answer.characters > CHARACTERS_MAX / 4) return;
  answers.set(name, answer);
  characters += answer.characters;
  for (const oldest of answers.keys()) {
    if (answers.size <= ANSWERS_MAX && characters <= CHARACTERS_MAX) break;
    dropAnswer(oldest);
  }
}

/** Drops the answer that is kept under a name, if there is one. */
export function dropAnswer(name: string): void {
  characters -= answers.get(name)?.characters ?? 0;
  answers.delete(name);
}

/** Drops all answers. */
export function dropAnswers(): void {
  answers.clear();
  characters = 0;
}
