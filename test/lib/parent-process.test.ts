import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'

const MODULE = new URL('../../src/lib/parent-process.ts', import.meta.url).href
const CHILD = `
  import { onParentEnd } from '${MODULE}'
  onParentEnd(() => { console.log('ended'); process.exit() }, { pollMs: 10 })
  setInterval(() => undefined, 1_000)
  console.log('started')`
// Not the last command, so that no shell replaces itself by the child.
const SCRIPT = '"$0" --input-type=module --eval "$1"; exit 0'

test('calls back when the process that started this one has ended, and not before', async () => {
  const parent = spawn('sh', ['-c', SCRIPT, process.execPath, CHILD], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let written = ''
  parent.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text
  })
  await expect.poll(() => written).toBe('started\n')

  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(written).toBe('started\n')
  parent.kill('SIGKILL')
  await once(parent.stdout, 'end')

  expect(written).toBe('started\nended\n')
})
