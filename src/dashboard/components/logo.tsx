export function Logo({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" fill="#3b5bdb" />
      <path
        d="M12 4.500v8m0 0 3.500-3.500M12 12.500 8.500 9M5 13.500h3.500c.5 2 1.7 3 3.500 3s3-1 3.500-3H19V18a1.500 1.500 0 0 1-1.500 1.500h-11A1.500 1.500 0 0 1 5 18z"
        fill="none"
        stroke="#fff"
        strokeWidth="1.7"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}
