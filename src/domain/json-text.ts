import { isUtf8 } from 'node:buffer'
import secureJson from 'secure-json-parse'
import { invalidJson } from '../errors/index.ts'

/** Parses JSON. Rejects members that would change prototypes, such as `__proto__`. */
export function parseJson(bytes: Buffer, place = ''): unknown {
  if (!isUtf8(bytes)) throw invalidJson(`${place}it is not UTF-8.`)
  try {
    return secureJson.parse(bytes.toString(), { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    throw invalidJson(`${place}${(error as Error).message.slice(0, 200)}`)
  }
}
