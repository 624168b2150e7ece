import type { Context } from 'hono'
import type { SSEStreamingApi } from 'hono/streaming'
import { systemTimers } from '../lib/timers.ts'
import type { EventHistory } from './event-history.ts'
import type { LiveSections } from './live-sections.ts'
import type { EventView } from './views.ts'

const EVENTS_TOGETHER = 200
export const EVERY_MS = 250
/** Both ends notice a broken connection. */
const KEEP_ALIVE_MS = 15_000

/** A slow follower misses events, gets an event `missed`, and delays no other. */
export async function followEvents(
  stream: SSEStreamingApi,
  from: number,
  history: EventHistory,
): Promise<void> {
  let [id, isUpToDate] = [from, false]
  while (!stream.aborted && !stream.closed) {
    const { events, missed } = history.after(id, EVENTS_TOGETHER)
    if (missed > 0) await stream.writeSSE({ event: 'missed', data: String(missed) })
    const text = events.map(toText).join('')
    id = events.at(-1)?.id ?? id
    if (text !== '') await stream.write(text)
    else if (!isUpToDate || !(await isNext(history))) await stream.write(': up to date\n\n')
    isUpToDate = text === ''
    if (!isUpToDate) await stream.sleep(EVERY_MS)
  }
}

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

/** Default: the last event; undefined if invalid. */
export function parseEventId(context: Context, history: EventHistory): number | undefined {
  const asked = context.req.header('last-event-id') ?? context.req.query('after')
  const id = asked === undefined ? history.lastId : Number(asked)
  return Number.isSafeInteger(id) && id >= 0 ? id : undefined
}

function toText(event: EventView): string {
  return `id: ${event.id}\nevent: log\ndata: ${JSON.stringify(event)}\n\n`
}

function isNext(history: EventHistory): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = systemTimers.after(KEEP_ALIVE_MS, () => {
      forget()
      resolve(false)
    })
    const forget = history.onNext(() => {
      cancel()
      resolve(true)
    })
  })
}
