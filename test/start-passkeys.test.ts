import { expect, test } from 'vitest'
import { PASSKEYS_TEXT } from '../src/start-text.ts'
import { startApp } from './support/app.ts'
import { spawnCommand } from './support/commands.ts'
import { addPasskey, PUBLIC_URL } from './support/passkeys.ts'
import { person } from './support/people.ts'

test('a start under another public URL says how many passkeys do not work there', async () => {
  const app = await startApp({ env: { PUBLIC_URL } })
  const ada = await person(app)
  for (let n = 0; n < 2; n++) await addPasskey(app, ada)
  for (const [publicUrl, passkeys] of [
    ['https://new.example.com', [2]],
    [PUBLIC_URL, []],
  ] as const) {
    const env = { DATABASE_URL: app.connectionString, PORT: '0', PUBLIC_URL: publicUrl }
    const { process, ended, output } = spawnCommand(['start'], { env })
    await expect.poll(output, { timeout: 60_000 }).toContain(`Inlet is running at ${publicUrl}/`)
    process.kill('SIGTERM')
    await ended
    const warned = output()
      .split('\n')
      .filter((line) => line.includes(PASSKEYS_TEXT))
      .map((line) => JSON.parse(line).passkeys)
    expect([publicUrl, warned]).toEqual([publicUrl, passkeys])
  }
  await app.close()
})
