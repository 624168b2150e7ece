import { PortFront } from '../../src/control/front/port-front.ts'
import type { OpenPort } from '../../src/control/front/served-port.ts'

/** The control port in the thread of the test, by its clock. */
export function openPortHere(monotonic: () => number): OpenPort {
  return (task, { onNews, onBroken, onEnded }) => {
    const front = new PortFront({ ...task, monotonic, post: onNews, onBroken })
    return {
      listening: front.start(),
      post: (message) => front.hear(message),
      stop: async () => {
        await front.stop()
        onEnded(undefined)
      },
    }
  }
}
