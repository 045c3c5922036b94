import type { Page } from '../../tools/playwright.ts'

const QUIET_MS = 3_000

/** Counts what a page requests and receives over the network from now on, without its cache. */
export async function countReceived(page: Page) {
  const network = await page.context().newCDPSession(page)
  await network.send('Network.enable')
  await network.send('Network.setCacheDisabled', { cacheDisabled: true })
  let requests = 0
  let bytes = 0
  let last = Date.now()
  /** Of responses that have not ended, such as the stream. */
  const receiving = new Map<string, number>()
  network.on('Network.requestWillBeSent', () => {
    requests++
    last = Date.now()
  })
  network.on('Network.dataReceived', ({ requestId, dataLength, encodedDataLength }) => {
    receiving.set(requestId, (receiving.get(requestId) ?? 0) + (encodedDataLength || dataLength))
  })
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    bytes += encodedDataLength
    receiving.delete(requestId)
  })
  return {
    requests: () => requests,
    bytes: () => [...receiving.values()].reduce((sum, length) => sum + length, bytes),
    isQuiet: () => Date.now() - last > QUIET_MS,
  }
}
