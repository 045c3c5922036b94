/** What the browser calls a page in its tabs and its history. */
export const pageTitle = (title: string) => `${title} · Inlet`
