// Requests to the control port are read in this thread, beside the one that trades.

import { systemClock } from '../../lib/clock.ts'
import { listenInThread } from './listen-in-thread.ts'
import { PortFront } from './port-front.ts'
import type { PortNews, PortTask, ToPort } from './port-messages.ts'

await listenInThread<PortTask, PortNews, ToPort>(
  (task, { post, onBroken }) =>
    new PortFront({ ...task, monotonic: () => systemClock.monotonic(), post, onBroken }),
)
