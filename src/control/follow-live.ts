import type { SSEStreamingApi } from 'hono/streaming'
import type { EventHistory } from './event-history.ts'
import { EVENTS_TOGETHER, EVERY_MS, toText } from './follow-events.ts'
import type { LiveSections } from './live-sections.ts'

interface LiveOptions {
  readonly stream: SSEStreamingApi
  readonly from: number
  readonly history: EventHistory
  readonly sections: LiveSections
}

/**
 * Sends `state` (changed parts of the status) and `log`. Nothing is written before the client took
 * the last message, so a slow one skips states and misses events (`missed` says how many).
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
