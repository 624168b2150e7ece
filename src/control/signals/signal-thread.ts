// Requests to the port of signals are read in this thread, beside the one that trades.

import { systemClock } from '../../lib/clock.ts'
import { listenInThread } from '../front/listen-in-thread.ts'
import { SignalFront } from './signal-front.ts'
import type { SignalNews, SignalTask, ToSignals } from './signal-messages.ts'

await listenInThread<SignalTask, SignalNews, ToSignals>(
  (task, { post, onBroken }) =>
    new SignalFront({ ...task, monotonic: () => systemClock.monotonic(), post, onBroken }),
)
