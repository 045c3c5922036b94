import { randomBytes } from 'node:crypto'
import { systemClock } from '../lib/clock.ts'
import { createAdminKey, setUp } from '../services/setup.ts'
import { shownOnce } from '../start-text.ts'
import { type Call, checkedName, print, refuseWords, usage } from './call.ts'
import { onDatabase } from './database.ts'

/** `keys create`. On a database that no instance has used, it does what the first start does. */
export async function createKey({ config, words, options, signal }: Call): Promise<void> {
  refuseWords(words)
  if (!options.admin) throw usage()
  const name = checkedName(options.name ?? 'Admin key')
  await onDatabase({ config, signal }, async ({ repos }) => {
    const deps = { repos, clock: systemClock(), randomBytes }
    const hasWebhookSecret = config.webhookSecret !== undefined
    const { isRestored, ...first } = await setUp({ ...deps, bootstrapKey: undefined, hasWebhookSecret })
    if (isRestored) print(RESTORED)
    const adminKey = first.adminKey ?? (await createAdminKey({ ...deps, name }))
    process.stdout.write(shownOnce({ ...first, adminKey }))
    return undefined
  })
}

const RESTORED = 'The database was restored from a backup, so write-back and outgoing webhooks are off.'
