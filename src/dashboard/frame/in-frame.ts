import { createContext, useContext } from 'react'

/** Whether there is a frame around this, with the sidebar and the page's one `main`. */
export const InFrame = createContext(false)

export const useInFrame = () => useContext(InFrame)
