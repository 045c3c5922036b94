/** Divides a total: each gets what it needs, or as much as the others that need more. */
export function fairShares(needs: number[], total: number): number[] {
  const shares = needs.map(() => 0)
  const order = [...needs.keys()].sort((a, b) => (needs[a] ?? 0) - (needs[b] ?? 0))
  let remaining = Math.max(0, total)
  for (const [served, index] of order.entries()) {
    const share = Math.min(needs[index] ?? 0, Math.floor(remaining / (order.length - served)))
    shares[index] = share
    remaining -= share
  }
  return shares
}
