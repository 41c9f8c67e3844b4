/* The options of a program as they stand behind `facet run PROGRAM` or `facet tile run KERNEL` on a command line, and back. What they
 * mean is the library's business; here they are only words. */

export type Option = [name: string, value: string];

/** Options that have no value. */
const FLAGS = new Set(["poison", "check-order", "lint"]);

/** "--grid 4x3 --arg target=0x80100000": blanks part words, quotes hold them together. Throws an Error with a message. */
export function readOptions(text: string): Option[] {
  const words = splitWords(text);
  const options: Option[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (!word.startsWith("--") || word.length < 3) {
      throw new Error(`"${word}": expected an option such as --grid 4x3`);
    }
    const equals = word.indexOf("=");
    const name = word.slice(2, equals < 0 ? undefined : equals);
    if (equals >= 0) {
      options.push([name, word.slice(equals + 1)]);
    } else if (FLAGS.has(name)) {
      options.push([name, ""]);
    } else if (words[i + 1] === undefined) {
      throw new Error(`--${name}: expected a value behind it`);
    } else {
      options.push([name, words[++i] ?? ""]);
    }
  }
  return options;
}

function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (const c of text) {
    if (quote !== "") {
      if (c === quote) {
        quote = "";
      } else {
        word += c;
      }
    } else if (c === '"' || c === "'") {
      quote = c;
      word ??= "";
    } else if (/\s/.test(c)) {
      if (word !== undefined) {
        words.push(word);
      }
      word = undefined;
    } else {
      word = (word ?? "") + c;
    }
  }
  if (quote !== "") {
    throw new Error(`the quotation mark ${quote} is not closed`);
  }
  if (word !== undefined) {
    words.push(word);
  }
  return words;
}

export const hasOption = (options: readonly Option[], name: string): boolean => options.some(([one]) => one === name);
