import { type Context } from 'hono'
import { streamSSE } from 'hono/streaming'
import { type EventHistory } from './event-history.ts'
import { EVENTS_TOGETHER, EVERY_MS, NO_EVENT_ID, parseEventId, toText } from './follow-events.ts'
import { type LiveSections } from './live-sections.ts'

/**
 * What a screen shows, as server-sent events: `state` with those parts of the status that have changed, and `log` with
 * the events of the log, from behind an id. What is not taken yet is not written: who is slow skips states, misses
 * events (`missed` says how many), and costs the daemon nothing.
 */
export function followLive(context: Context, history: EventHistory, sections: LiveSections): Response {
  const from = parseEventId(context, history)
  if (from === undefined) return context.json({ error: NO_EVENT_ID }, 400)
  return streamSSE(context, async (stream) => {
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
  })
}
