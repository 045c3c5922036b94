import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { expectConsistent, tasksIn } from '../support/audit.ts'
import { spawnCommand } from '../support/commands.ts'
import { cleanUp, connectionStringOf, newDataDir, spawnInlet } from '../support/inlet-process.ts'
import { startInstancesUnderLoad } from '../support/instances-under-load.ts'
import { temporaryRoot } from '../support/postgres-server.ts'
import { type SmallDisk, smallDisk } from '../support/small-disk.ts'

let folder: string | undefined
let disk: SmallDisk | undefined

afterEach(async () => {
  disk?.unmount()
  disk = undefined
  await cleanUp()
  if (folder) await rm(folder, { recursive: true })
  folder = undefined
})

test('a backup under load restores to a state with all that was acknowledged before it began', {
  timeout: 240_000,
}, async () => {
  const dataDir = await newDataDir()
  const service = await startInstancesUnderLoad({ database: { dataDir } })
  const file = join(await newFolder(), 'inlet.tar.gz')

  let before = service.load.acknowledged
  const recoveries = await service.repeat(1, async () => {
    before = structuredClone(service.load.acknowledged)
    const { code, output } = await spawnCommand(['backup', file], { dataDir }).ended
    expect(output).toContain('The backup is in')
    expect(code).toBe(0)
    return undefined
  })
  await service.expectNothingLost({
    fault: 'backup of the embedded database',
    recoveries,
    maxRecoveryMs: 5_000,
    connectionString: await connectionStringOf(dataDir),
  })

  const restoredDir = await newDataDir()
  expect(await spawnCommand(['restore', file], { dataDir: restoredDir }).ended).toMatchObject({ code: 0 })
  const inlet = spawnInlet({ dataDir: restoredDir })
  await inlet.url
  expect(inlet.output()).toContain('restored from a backup')
  const connectionString = await connectionStringOf(restoredDir)
  await expectConsistent(connectionString)
  const there = await tasksIn(connectionString)
  for (const [id, { title, version }] of before.tasks) {
    expect(there.get(id)).toMatchObject({ title })
    expect(there.get(id)?.version).toBeGreaterThanOrEqual(version)
  }
  // Whatever else was committed by its end was acknowledged later.
  const later = service.load.acknowledged.tasks
  expect([...there.keys()].filter((id) => !later.has(id))).toEqual([])
  expect(there.size).toBeGreaterThanOrEqual(before.tasks.size)
  expect(await endOf(inlet)).toMatchObject({ code: 0 })

  const again = spawnInlet({ dataDir: restoredDir })
  await again.url
  expect(again.output()).not.toContain('restored from a backup')
  expect(await endOf(again)).toMatchObject({ code: 0 })
})

// An ordinary user mounts a disk where only its own processes see it.
test.runIf(process.getuid?.() === 0)(
  'a backup and a restore on a disk that is too small say so, and leave nothing',
  async () => {
    const dataDir = await newDataDir()
    const inlet = spawnInlet({ dataDir })
    await inlet.url
    const small = join(await newFolder(), 'small')
    disk = await smallDisk(small, 20)

    const refused = await spawnCommand(['backup', join(small, 'inlet.tar.gz')], { dataDir }).ended

    expect(refused.code).toBe(1)
    expect(refused.output).toMatch(/^The backup can take up to \d+ MB, and the disk of .* has \d+ MB left\./)
    expect(await readdir(small)).toEqual([])
    const file = join(folder ?? '', 'inlet.tar.gz')
    expect(await spawnCommand(['backup', file], { dataDir }).ended).toMatchObject({ code: 0 })
    const restored = await spawnCommand(['restore', file], { dataDir: join(small, 'data') }).ended
    expect(restored.code).toBe(1)
    expect(restored.output).toMatch(/Its data can take up to \d+ MB, and the disk of .* has \d+ MB left\./)
    expect(await endOf(inlet)).toMatchObject({ code: 0 })
  },
)

async function newFolder(): Promise<string> {
  folder = await mkdtemp(join(await temporaryRoot(), 'inlet-backup-'))
  // As root, PostgreSQL runs as another user, who has to pass.
  await chmod(folder, 0o711)
  return folder
}

function endOf(inlet: ReturnType<typeof spawnInlet>) {
  inlet.process.kill('SIGTERM')
  return inlet.ended
}
