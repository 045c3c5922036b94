import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

/*
 * Loaded into a process under test: names that end in `.rebinding.test` have a public address when they are looked up for
 * the first time, and the address of this machine from then on.
 */

const { lookup } = dns.promises
const known = new Set<string>()

async function lookUpRebinding(name: string, options: dns.LookupAllOptions) {
  if (!name.endsWith('.rebinding.test')) return lookup(name, options)
  const address = known.has(name) ? '127.0.0.1' : '93.184.215.14'
  known.add(name)
  return [{ address, family: 4 }]
}

Object.assign(dns.promises, { lookup: lookUpRebinding })
syncBuiltinESMExports()
