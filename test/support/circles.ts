/** The circles in a graph of who needs whom, each as a path. */
export function circlesOf(needs: Map<string, string[]>): string[] {
  const done = new Set<string>()
  const visit = (file: string, path: string[]): string[] => {
    if (path.includes(file)) return [[...path.slice(path.indexOf(file)), file].join(' -> ')]
    if (done.has(file)) return []
    const circles = (needs.get(file) ?? []).flatMap((needed) => visit(needed, [...path, file]))
    done.add(file)
    return circles
  }
  return [...needs.keys()].flatMap((file) => visit(file, []))
}
