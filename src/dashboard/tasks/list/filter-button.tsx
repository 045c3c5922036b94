import { Button, type ButtonProps } from '@mantine/core'

/** Shows the name of a filter and its selected values. */
export function FilterButton({ name, labels, ...button }: { name: string; labels: string[] } & ButtonProps) {
  const isSet = labels.length > 0
  return (
    <Button {...button} variant={isSet ? 'light' : 'subtle'} color={isSet ? 'accent' : 'gray'} px={10}>
      {isSet ? `${name}: ${labels.join(', ')}` : name}
    </Button>
  )
}
