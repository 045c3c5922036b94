/** Fetches the browser driver once, before several workers load it. */
export { fetchTools as setup } from '../../tools/fetch.ts'
