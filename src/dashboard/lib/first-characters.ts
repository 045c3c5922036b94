/** The first characters of a text as the API counts them. Half an emoji could not be sent. */
export const firstCharacters = (text: string, count: number): string =>
  // Most texts are short, and a character is at most two units.
  (text.length <= count ? text : [...text.slice(0, 2 * count)].slice(0, count).join('')).toWellFormed()
