import type { DaemonConfig } from '../../config/load-config.ts'
import { isLoopback } from '../../config/loopback.ts'
import {
  SignalGate,
  type SignalGateOptions,
  type SignalRule,
} from '../../control/signals/signal-gate.ts'
import { ServedSignals } from '../../control/signals/served-signals.ts'
import type { SignalResult } from '../../control/signals/signal-guard.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/failure.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Timers } from '../../lib/timers.ts'
import type { DaemonLogger } from '../../logging/logger.ts'
import type { MarketListener } from '../market-data/market-data.ts'
import type { OpenedControl } from './open-control.ts'
import { SignalQueue } from './signal-queue.ts'
import type { SignalCounts } from './view-signals.ts'

const LISTEN_AGAIN_MS = 2000
const LOGGED_EVERY_MS = 60_000

export interface SignalsOptions {
  readonly config: Pick<DaemonConfig, 'signals' | 'polling'>
  readonly secrets: ReadonlyMap<string, Secret>
  readonly take: SignalGateOptions['take']
  readonly market: { listen(listener: MarketListener): void }
  readonly logger: DaemonLogger
  readonly clock: Clock
  readonly timers: Timers
}

export interface OpenedSignals extends OpenedControl {
  readonly counts: SignalCounts
}

/** Undefined if no signal is configured. */
export function openSignals(options: SignalsOptions): OpenedSignals | undefined {
  const { config, secrets, take, market, logger, clock, timers } = options
  const { signals } = config
  if (signals === undefined) return undefined
  for (const secret of secrets.values()) logger.hide(secret)
  const counts = new Map<string, Map<SignalResult, number>>()
  const logRefused = createRefusedLog(options)
  const note = (name: string | undefined, result: SignalResult, why: string, count = 1): void => {
    const known = counts.get(name ?? '') ?? new Map<SignalResult, number>()
    counts.set(name ?? '', known.set(result, (known.get(result) ?? 0) + count))
    if (result !== 'taken' && result !== 'repeated') logRefused({ name, result, why, count })
  }
  const queue = new SignalQueue({ take, tickersMs: config.polling.tickersMs, clock, timers })
  const rules = listRules(signals, secrets)
  const gate = new SignalGate({
    rules,
    now: () => clock.now(),
    take: (signal) => queue.take(signal),
    onAnswered: note,
  })
  const { host, port } = signals
  const keys = rules.map(({ name, secret, secretField, perMinute }) => {
    return { name, secret: secret.reveal(), secretField, perMinute }
  })
  const serve = (onEnded: (reason: string) => void): ServedSignals =>
    new ServedSignals({
      task: { host, port, keys },
      take: (signal) => gate.answer(signal),
      onCounted: (news) => {
        if (news.kind === 'answered') note(news.name, news.result, news.why, news.count)
        else logRefused({ name: undefined, result: 'limited', why: news.why, count: news.count })
      },
      onBroken: (reason) => logger.log('error', 'signals.failed', { reason }),
      onEnded,
    })
  const listening = keepListening(serve, { signals, logger, timers })
  return {
    counts,
    start() {
      market.listen({
        hear: ({ kind }) => kind === 'snapshotTaken' && queue.hearPrices(),
        rollDay: () => undefined,
      })
      return listening.start()
    },
    stop() {
      queue.close()
      return listening.stop()
    },
  }
}

function listRules(
  { accept }: NonNullable<DaemonConfig['signals']>,
  secrets: ReadonlyMap<string, Secret>,
): readonly SignalRule[] {
  return Object.entries(accept).flatMap(([name, settings]) => {
    const secret = secrets.get(name)
    return secret === undefined ? [] : [{ ...settings, name, secret }]
  })
}

interface Listening {
  readonly signals: NonNullable<DaemonConfig['signals']>
  readonly logger: DaemonLogger
  readonly timers: Timers
}

/** Tries a taken port again, and begins another thread after one that ended. */
function keepListening(
  serve: (onEnded: (reason: string) => void) => ServedSignals,
  { signals, logger, timers }: Listening,
): OpenedControl {
  const { host, port, accept } = signals
  let cancel: (() => void) | undefined
  let isStopped = false
  let served: ServedSignals | undefined
  const again = (reason: string, isNews: boolean): void => {
    served = undefined
    if (isStopped) return
    if (isNews) logger.log('warn', 'signals.notListening', { address: `${host}:${port}`, reason })
    cancel = timers.after(LISTEN_AGAIN_MS, () => void listen(false))
  }
  const listen = async (isNews: boolean): Promise<void> => {
    const own = serve((reason) => own === served && again(reason, true))
    try {
      const listening = await own.listening
      if (isStopped) return await own.stop()
      served = own
      const reach = isLoopback(host) ? 'this machine' : 'whoever reaches this address'
      logger.log('info', 'signals.listening', {
        url: `http://${host.includes(':') ? `[${host}]` : host}:${listening}`,
        signals: Object.keys(accept),
        reach,
      })
    } catch (error) {
      again(messageOf(error), isNews)
    }
  }
  return {
    start: () => listen(true),
    async stop() {
      isStopped = true
      cancel?.()
      await served?.stop()
    },
  }
}

interface RefusedSignals {
  readonly name: string | undefined
  readonly result: SignalResult
  readonly why: string
  readonly count: number
}

/** One line a minute for each signal. */
function createRefusedLog({ logger, clock }: SignalsOptions): (refused: RefusedSignals) => void {
  const lastAt = new Map<string, number>()
  const unlogged = new Map<string, number>()
  return ({ name, result, why, count: more }) => {
    const event = result === 'limited' ? 'signal.limited' : 'signal.refused'
    const signal = name ?? 'none'
    // Counted apart, so that a stranger cannot hide the mistake of a sender with the secret.
    const key = `${event} ${signal}`
    const count = (unlogged.get(key) ?? 0) + more
    unlogged.set(key, count)
    const now = clock.monotonic()
    if (now - (lastAt.get(key) ?? Number.NEGATIVE_INFINITY) < LOGGED_EVERY_MS) return
    lastAt.set(key, now)
    unlogged.set(key, 0)
    if (event === 'signal.limited')
      logger.log('warn', 'signal.limited', { signal, why, sinceLastLogged: count })
    else logger.log('warn', 'signal.refused', { signal, why, sinceLastLogged: count })
  }
}
