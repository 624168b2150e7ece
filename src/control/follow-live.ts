import type { SSEStreamingApi } from 'hono/streaming'
import type { EventHistory } from './event-history.ts'
import { EVENTS_TOGETHER, EVERY_MS, toText } from './follow-events.ts'
import type { LiveSections } from './live-sections.ts'

interface LiveOptions {
  readonly stream: SSEStreamingApi
  /** The id of the last event that the client knows. */
  readonly from: number
  readonly history: EventHistory
  readonly sections: LiveSections
}

/**
 * The live view of a screen, as server-sent events: `state` with the changed parts of the status,
 * and `log` with the events of the log after an id. Nothing is written before the last message was
 * taken: a slow client skips states, misses events (`missed` says how many), and costs the daemon
 * nothing.
 */
export async function followLive({ stream, from, history, sections }: LiveOptions): Promise<void> {
  let [id, version] = [from, 0]
  while (!stream.aborted && !stream.closed) {
    const { events, missed } = history.after(id, EVENTS_TOGETHER)
    const state = sections.since(version)
    id = events.at(-1)?.id ?? id
    version = state.version
    const text = [
      state.text === '' ? '' : `event: state\ndata: ${state.text}\n\n`,
      missed === 0 ? '' : `event: missed\ndata: ${missed}\n\n`,
      ...events.map(toText),
    ].join('')
    if (text !== '') await stream.write(text)
    await stream.sleep(EVERY_MS)
  }
}
