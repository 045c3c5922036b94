/** In the place of what somebody asked for and is on its way: until it is there, keys are no commands. */
export const KeysWait = () => <span hidden data-keys-wait />
