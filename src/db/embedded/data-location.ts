import { createHash } from 'node:crypto'
import { chmod, chown, mkdir, readdir, readlink, realpath, rmdir, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Account, run } from './run.ts'
import { exists, makeOpenDirectory } from './staging.ts'

/** The location of the database's files, and the user that owns them. */
export interface DataLocation {
  /** PostgreSQL's data directory, without symlinks. It may not exist yet; its parent does. */
  cluster: string
  account: Account | undefined
  /** The directory for copies of the programs. */
  copies: string
  /** Where `linkData` makes a link to the cluster, as it is not in the data directory. */
  link?: string
}

interface Log {
  info(obj: object, msg: string): void
}

/** Resolves `dataDir`, an absolute path, and creates it if absent. */
export async function locateData(dataDir: string, log: Log): Promise<DataLocation> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  return process.getuid?.() === 0 ? locateAsRoot(dataDir, log) : locateAsUser(dataDir)
}

const ROOT_DIRECTORY = '/var/lib/inlet'

async function locateAsUser(dataDir: string): Promise<DataLocation> {
  const existing = await existingCluster(join(dataDir, 'postgres'))
  return {
    cluster: existing ?? join(await realpath(dataDir), 'postgres'),
    account: undefined,
    copies: dataDir,
  }
}

// PostgreSQL refuses to run as root, so another user must be able to reach its files.
async function locateAsRoot(dataDir: string, log: Log): Promise<DataLocation> {
  const existing = await existingCluster(join(dataDir, 'postgres'))
  if (existing)
    return { cluster: existing, account: await ownerOf(existing, dataDir), copies: ROOT_DIRECTORY }

  const account = await postgresAccount()
  await grantEntry(account, dataDir)
  if (await canEnter(account, dataDir)) {
    return { cluster: join(await realpath(dataDir), 'postgres'), account, copies: ROOT_DIRECTORY }
  }
  const link = join(dataDir, 'postgres')
  return { cluster: await moveOut(dataDir, { account, log }), account, copies: ROOT_DIRECTORY, link }
}

/**
 * Keeps later starts on these files, even if the path to the data directory has become accessible by then. Only once
 * there is a database, so that a link to nothing always means that one is missing.
 */
export async function linkData({ cluster, link }: DataLocation): Promise<void> {
  if (!link) return
  await rmdir(link).catch(() => undefined)
  await symlink(cluster, link).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

async function existingCluster(path: string): Promise<string | undefined> {
  const link = await readlink(path).catch(() => undefined)
  const cluster = await realpath(path).catch(() => undefined)
  if (!cluster && link) {
    throw new Error(
      `${path} is a link to the database in ${link}, where nothing is: mount it there. ` +
        'To restore a backup, or to start with an empty database, remove the link first',
    )
  }
  if (!cluster) return undefined
  await refuseForeign(cluster)
  if ((await readdir(cluster)).length === 0) return undefined
  if (!(await exists(join(cluster, 'PG_VERSION')))) {
    throw new Error(
      `${cluster} holds something that is not a PostgreSQL database: move it away or change DATA_DIR`,
    )
  }
  return cluster
}

async function refuseForeign(cluster: string): Promise<void> {
  const { uid } = await stat(cluster)
  const ours = process.getuid?.() ?? uid
  if (ours === 0 || ours === uid) return
  throw new Error(
    `the database in ${cluster} belongs to the user with id ${uid}: run Inlet as that user or as root`,
  )
}

// The data keeps its owner, so that one `sudo npm start` does not lock out the usual user.
async function ownerOf(cluster: string, dataDir: string): Promise<Account> {
  const { uid, gid } = await stat(cluster)
  const account = uid === 0 ? await postgresAccount() : { uid, gid }
  if (uid === 0) await run('chown', { args: ['-R', `${account.uid}:${account.gid}`, cluster] })
  await grantEntry(account, dataDir)
  if (!(await canEnter(account, cluster))) {
    throw new Error(
      `PostgreSQL runs as the user with id ${account.uid}, who cannot enter ${cluster}: move DATA_DIR where it can`,
    )
  }
  return account
}

// 0710 root:postgres: the server's user can traverse it, but neither list nor write.
async function grantEntry(account: Account, dataDir: string): Promise<void> {
  const { uid, mode } = await stat(dataDir)
  if (uid !== 0 || (await canEnter(account, dataDir))) return
  await chown(dataDir, 0, account.gid)
  await chmod(dataDir, (mode & 0o7777) | 0o010)
}

async function canEnter(account: Account, directory: string): Promise<boolean> {
  return (await run('/bin/sh', { args: ['-c', 'cd "$1"', 'sh', directory], account })).ok
}

async function moveOut(dataDir: string, { account, log }: { account: Account; log: Log }): Promise<string> {
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 12)
  const home = join(ROOT_DIRECTORY, hash)
  const cluster = join(home, 'postgres')
  await makeOpenDirectory(ROOT_DIRECTORY)
  await mkdir(home, { recursive: true, mode: 0o700 })
  await grantEntry(account, home)
  log.info(
    { dataDir, database: cluster, uid: account.uid },
    'the database is kept outside the data directory, which its user cannot enter',
  )
  return cluster
}

async function postgresAccount(): Promise<Account> {
  const account = (await lookUp('postgres')) ?? (await createUser('postgres'))
  if (!account) {
    throw new Error(
      'PostgreSQL refuses to run as root, and no user "postgres" could be made: run Inlet as another user',
    )
  }
  return account
}

async function createUser(name: string): Promise<Account | undefined> {
  const options = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin']
  await run('useradd', { args: [...options, name] }).catch(() => undefined)
  // Looked up again whatever useradd returned: another process may have created the user meanwhile.
  return lookUp(name)
}

async function lookUp(name: string): Promise<Account | undefined> {
  const [uid, gid] = await Promise.all([run('id', { args: ['-u', name] }), run('id', { args: ['-g', name] })])
  return uid.ok && gid.ok ? { uid: Number(uid.output), gid: Number(gid.output) } : undefined
}
