/** What an event says in a few words, whether or not it is valid. */
export interface FeedbackWords {
  /** Of the event. */
  name: string | null
  sentiment: string | null
  /** Its beginning. */
  note: string | null
}

const MAX_NOTE = 140

/** An event in one line: its sentiment and note, if it has them. */
export function feedbackSummary({ name, sentiment, note }: FeedbackWords): string | null {
  const short = shortened(note?.replace(/\s+/g, ' ').trim() ?? '')
  if (short) return sentiment ? `${capitalized(sentiment)}: ${short}` : short
  return sentiment ? `${capitalized(sentiment)}, no note` : name
}

export const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

function shortened(note: string): string {
  const characters = [...note]
  return characters.length > MAX_NOTE ? `${characters.slice(0, MAX_NOTE).join('')}…` : note
}
