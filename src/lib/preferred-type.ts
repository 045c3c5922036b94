/**
 * The media type of a response, of those that a route offers, as the header Accept asks for: by its q-values, and at equal
 * ones the first that is offered. What nobody offers is ignored: then, too, the first one is sent.
 */
export function preferredType<T extends string>(
  accept: string | undefined,
  offered: readonly [T, ...T[]],
): T {
  const ranges = rangesOf(accept ?? '*/*')
  const [best] = offered
    .map((type) => ({ type, quality: qualityOf(type, ranges) }))
    .toSorted((a, b) => b.quality - a.quality)
  return best && best.quality > 0 ? best.type : offered[0]
}

interface Range {
  name: string
  quality: number
}

function rangesOf(accept: string): Range[] {
  return accept.split(',').map((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
    return { name, quality: Number.isNaN(quality) ? 1 : quality }
  })
}

/** The most specific range decides: a type before all its subtypes, and these before everything. */
function qualityOf(type: string, ranges: Range[]): number {
  const names = [type, `${type.split('/')[0]}/*`, '*/*']
  for (const name of names) {
    const range = ranges.find((each) => each.name === name)
    if (range) return range.quality
  }
  return 0
}
