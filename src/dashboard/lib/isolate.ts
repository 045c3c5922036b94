const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

/** A user's text within a sentence that has no elements: it turns no word around it. */
export const isolate = (text: string) => (RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text)
