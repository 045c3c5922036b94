import { statfs } from 'node:fs/promises'

/** @throws Error with sentences, if the disk of this folder has less space than needed */
export async function refuseSmallDisk(
  folder: string,
  { bytes, purpose }: { bytes: number; purpose: string },
): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  if (free >= bytes) return
  throw new Error(
    `${purpose} can take up to ${megabytes(bytes)}, and the disk of ${folder} has ${megabytes(free)} left. Free some space, or use another disk.`,
  )
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20).toLocaleString('en')} MB`
