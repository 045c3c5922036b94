import { useQuery } from '@tanstack/react-query'
import styles from './label-colors.module.css'
import { namesQuery } from './names.ts'

/** The colors of labels by name in lower case. */
export type LabelColors = ReadonlyMap<string, string>

const NONE: LabelColors = new Map()

/** The colors of the most used labels. Only the code host gives labels a color. */
export function useLabelColors(
  projectId: string | undefined,
  { isEnabled }: { isEnabled: boolean },
): LabelColors {
  const query = namesQuery({ kind: 'labels', projectId, text: '' })
  const { data = NONE } = useQuery({ ...query, enabled: isEnabled, select: colorsOf })
  return data
}

const colorsOf = (labels: { name: string; color?: string | null }[]): LabelColors =>
  new Map(labels.flatMap(({ name, color }) => (color ? [[name.toLowerCase(), color]] : [])))

/** Beside the name, which is readable in any theme whatever the color. */
export function LabelDot({ color }: { color: string | null | undefined }) {
  return color ? <i className={styles.dot} style={{ background: `#${color}` }} /> : null
}
