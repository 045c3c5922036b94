/** One line of the text format: a name, its labels, a value. */
interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

export interface Family {
  name: string
  help: string
  type: string
  samples: Sample[]
}

/** Reads the text format of Prometheus, strictly: whatever it does not describe is an error. Numbers are Go's. */
export function readMetrics(text: string): Family[] {
  if (!text.endsWith('\n')) throw new Error('The last line must end as the others do.')
  const families: Family[] = []
  for (const line of text.split('\n').filter((line) => line !== '')) {
    const help = /^# HELP ([a-zA-Z_:][\w:]*) (\S.*)$/.exec(line)
    const type = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary)$/.exec(line)
    const family = families.at(-1)
    if (help) families.push({ name: help[1] ?? '', help: help[2] ?? '', type: '', samples: [] })
    else if (family && type?.[1] === family.name && family.type === '') family.type = type[2] ?? ''
    else if (family && !line.startsWith('#')) family.samples.push(sampleOf(line, family))
    else throw new Error(`Not the text format, or out of place: ${line}`)
  }
  return families
}

/** The value of one sample, or 0 where there is none yet: a counter that never counted has no line. */
export function measured(text: string, name: string, labels: Record<string, string> = {}): number {
  const found = readMetrics(text)
    .flatMap(({ samples }) => samples)
    .filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )
  return found.reduce((sum, { value }) => sum + value, 0)
}

const SUFFIXES: Record<string, string[]> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
}

function sampleOf(line: string, { name: of, type }: Family): Sample {
  const [, name = '', , inner = '', value = ''] =
    /^([a-zA-Z_:][\w:]*)(\{(.*)\})? (nan|[+-]inf|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.exec(line) ?? []
  if (!SUFFIXES[type]?.some((suffix) => name === of + suffix))
    throw new Error(`Not a sample of ${of}, a ${type}: ${line}`)
  const pairs = [...inner.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\[\\"n])*)"(?:,|$)/g)]
  if (pairs.map(([pair]) => pair).join('') !== inner) throw new Error(`Labels that cannot be read: ${line}`)
  const labels = Object.fromEntries(pairs.map(([, key, text]) => [key, text]))
  return { name, labels, value: Number(value.replace(/inf/i, 'Infinity')) }
}
