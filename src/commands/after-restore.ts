import { systemClock } from '../lib/clock.ts'
import { afterRestore, listAccess } from '../services/restored.ts'
import { type Call, print, refuseWords } from './call.ts'
import { onDatabase, RUNNING } from './database.ts'

/** `after-restore`: for a database that was returned to an earlier state by other means than `restore`. */
export async function switchOff({ config, words, signal }: Call): Promise<void> {
  refuseWords(words)
  await onDatabase({ config, signal }, async ({ repos, server }) => {
    // A running instance may be sending, and has in memory what it knew before the database went back.
    const isRunning = server ? await server.isShared() : (await repos.instances.count()) > 0
    if (isRunning) return RUNNING
    const clock = systemClock()
    const { webhooks, connections, sessions, invites } = await afterRestore({ repos, clock })
    const { people, keys } = await listAccess({ repos, clock })
    print(`Turned off: ${webhooks} outgoing webhooks, and write-back of ${connections} projects.`)
    print(`Ended: ${sessions} sessions, and ${invites} invites.`)
    print(`People who can sign in: ${namesOf(people)}. Keys: ${namesOf(keys)}.`)
    print('Check what the receivers and the code host have already, then turn them on again.')
    print('Cursors from before are invalid, so clients read everything again.')
    return undefined
  })
}

const namesOf = (names: string[]) => (names.length === 0 ? 'none' : names.join(', '))
