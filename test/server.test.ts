import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('a Node.js that reads no TypeScript gets a sentence', async () => {
  const start = promisify(execFile)(process.execPath, ['--no-experimental-strip-types', 'src/server.ts'])
  await expect(start).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: `Inlet cannot start. It needs Node.js 22.18 or later, and this is ${process.version}. Install a later one, or use npm start, which brings its own on Linux and Windows.\n`,
  })
})
