import { useLocalStorage } from '@mantine/hooks'
import { SINGLE_KEYS } from './single-keys.ts'

/** Whether single keys are shortcuts in this browser, and how to change it. */
export function useSingleKeys() {
  const [value, setValue] = useLocalStorage({
    key: SINGLE_KEYS,
    defaultValue: 'on',
    getInitialValueInEffect: false,
    serialize: (value) => value,
    deserialize: (value = 'on') => value,
  })
  return { isOn: value !== 'off', set: (isOn: boolean) => setValue(isOn ? 'on' : 'off') }
}
