/**
 * Frees the memory of bytes that nobody uses any more; they are empty from then on. Garbage collection would free it
 * too, but lets up to 64 MB of buffers accumulate first. Bytes that share their memory with others are left alone.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) buffer.transfer(0)
}
