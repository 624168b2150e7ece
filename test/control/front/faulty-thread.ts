// A thread that listens at a port and then fails or hangs, as it is told by a POST.

import { createServer } from 'node:http'
import { listenAt } from '../../../src/control/front/http-server.ts'
import { listenInThread } from '../../../src/control/front/listen-in-thread.ts'
import type { ListeningTask } from '../../../src/control/front/listening-thread.ts'

await listenInThread<ListeningTask, never, never>((task) => {
  const server = createServer(({ url }, outgoing) => {
    if (url === '/hang') for (;;);
    if (url === '/fail') throw new Error('a defect of the port')
    outgoing.end('served')
  })
  return {
    start: () => listenAt(server, task, () => undefined),
    hear: () => undefined,
    stop: () => new Promise((resolve) => void server.close(() => resolve())),
  }
})
