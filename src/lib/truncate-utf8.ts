/** Truncates a text to a maximum of UTF-8 bytes, on a character boundary. */
export function truncateUtf8(text: string, maxBytes: number): string {
  // A UTF-16 unit takes at most three bytes: most texts need not be encoded.
  if (text.length * 3 <= maxBytes) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  let end = Math.max(0, maxBytes)
  while (end > 0 && isContinuation(bytes[end])) end--
  return bytes.toString('utf8', 0, end)
}

const isContinuation = (byte = 0) => (byte & 0xc0) === 0x80
