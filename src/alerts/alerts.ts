import type { AlertSecrets } from '../config/alert-secrets.ts'
import type { AlertSettings } from '../config/schema/alerts-schema.ts'
import type { LogEvent } from '../domain/log-events.ts'
import { type Clock, SteadyClock } from '../lib/clock.ts'
import { messageOf } from '../lib/failure.ts'
import type { ProxyFor } from '../lib/net/proxy.ts'
import { HiddenTexts, type Secret } from '../lib/secret.ts'
import type { Timers } from '../lib/timers.ts'
import type { Alert } from './alert.ts'
import { Heartbeat } from './delivery/heartbeat.ts'
import { createLocalClock, isBetween, type LocalTime, toMinute } from './delivery/local-time.ts'
import { type MessagePlace, writeCall } from './delivery/message.ts'
import { listSecretParts } from './delivery/secret-parts.ts'
import {
  type AlertLog,
  type DeliveryResult,
  describeOutcome,
  type FailingTarget,
} from './delivery/message-sender.ts'
import { TargetSender } from './delivery/target-sender.ts'
import { WebhookClient } from './delivery/webhook-client.ts'
import { AlertRules } from './rules/alert-rules.ts'
import type { LogFacts } from './rules/facts.ts'
import { TradeMessages } from './rules/trade-messages.ts'

export interface AlertsOptions {
  readonly settings: AlertSettings
  readonly secrets: AlertSecrets
  readonly place: MessagePlace
  /** The machine's clock; only quiet hours and the digest use it directly. */
  readonly clock: Clock
  readonly timers: Timers
  /** Its lines about messages themselves cause no alert. */
  readonly logger: AlertLog & { hide(secret: Secret): void }
  readonly proxyFor?: ProxyFor | undefined
  readonly timeoutMs?: number
}

export interface AlertSource {
  digest(): readonly string[]
  equityOf(account: string | undefined): string | undefined
  obstacle(): string | undefined
}

const STEP_MS = 1000

const STOP_MS = 3000

/**
 * Reads each log line, which takes microseconds and awaits nothing; messages are sent beside that.
 *
 *     new ──start()──► sending ──stop()──► stopped
 */
export class Alerts {
  readonly #options: AlertsOptions
  readonly #rules: AlertRules
  readonly #trades: TradeMessages | undefined
  readonly #senders: readonly TargetSender[]
  readonly #client: WebhookClient
  readonly #hidden = new HiddenTexts()
  readonly #localTime: (at: number) => LocalTime
  /** Setting the machine's clock back must not delay alerts. */
  readonly #clock: SteadyClock
  #heartbeat: Heartbeat | undefined
  #watched: AlertSource | undefined
  #digestedOn: string | undefined
  #cancel = (): void => undefined
  #isBroken = false

  constructor(options: AlertsOptions) {
    const { settings, secrets, place, clock, timers, logger, timeoutMs } = options
    this.#options = options
    this.#clock = new SteadyClock(clock)
    this.#rules = new AlertRules(settings)
    this.#trades = wantsTrades(settings) ? new TradeMessages() : undefined
    this.#localTime = createLocalClock(settings.timezone)
    this.#client = new WebhookClient({
      timers,
      proxyFor: options.proxyFor,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    })
    for (const secret of listSecretParts(secrets)) {
      this.hide(secret)
      logger.hide(secret)
    }
    const common = {
      client: this.#client,
      place,
      hidden: this.#hidden,
      logger,
      now: () => this.#clock.now(),
    }
    this.#senders = secrets.targets.map((target) => new TargetSender({ ...common, target }))
  }

  hide(secret: Secret): void {
    this.#hidden.add(secret)
  }

  start(): void {
    this.#skipDigest()
    const step = (): void => {
      this.#cancel = this.#options.timers.after(STEP_MS, step)
      this.#advance()
    }
    this.#cancel = this.#options.timers.after(STEP_MS, step)
  }

  /** Never throws: a broken alert must not harm the caller. */
  hear(event: LogEvent, facts: LogFacts): void {
    try {
      const shown = hideIn(facts, this.#hidden)
      const now = this.#clock.now()
      this.#trades?.hear(event, shown, now)
      this.#add(this.#rules.hear(event, shown, now))
    } catch (error) {
      this.#break(error)
    }
  }

  watch(watched: AlertSource): void {
    const { settings, secrets, logger } = this.#options
    this.#watched = watched
    if (settings.heartbeat === undefined || secrets.heartbeatUrl === undefined) return
    this.#heartbeat = new Heartbeat({
      ...settings.heartbeat,
      url: secrets.heartbeatUrl,
      client: this.#client,
      hidden: this.#hidden,
      logger,
      obstacle: () => watched.obstacle() ?? this.#describeFailing(),
    })
  }

  get targets(): ReadonlyMap<string, FailingTarget | undefined> {
    const { targets } = this.#options.secrets
    return new Map(targets.map(({ name }, index) => [name, this.#senders[index]?.failing]))
  }

  /** The monitor reports a missing heartbeat. */
  #describeFailing(): string | undefined {
    const failing = [...this.targets.values()].filter((one) => one !== undefined)
    if (failing.length === 0) return undefined
    return `alerts do not arrive at ${failing.map(({ target, reason }) => `${target} (${reason})`).join(', ')}`
  }

  async test(): Promise<
    readonly (DeliveryResult & { readonly name: string; readonly kind: string })[]
  > {
    const { secrets, place, clock } = this.#options
    const alert: Alert = {
      event: 'alert.test',
      key: 'alert.test',
      urgency: 'info',
      repeats: 0,
      at: clock.now(),
      title: 'a test: alerts of this configuration arrive here',
      lines: [],
      command: 'check',
    }
    return Promise.all(
      secrets.targets.map(async (target) => {
        const call = writeCall(target, alert, { place, hidden: this.#hidden, dropped: 0 })
        const result = describeOutcome(await this.#client.call(call), this.#hidden)
        return { name: target.name, kind: target.kind, ...result }
      }),
    )
  }

  async stop(): Promise<void> {
    this.#cancel()
    this.#add(this.#rules.flush())
    this.#add(this.#tradesDue(Number.POSITIVE_INFINITY))
    const { promise, resolve } = Promise.withResolvers<void>()
    let isOver = false
    const cancel = this.#options.timers.after(STOP_MS, resolve)
    const isQuiet = this.#isQuiet()
    const drained = Promise.all(this.#senders.map((sender) => sender.drain(isQuiet, () => isOver)))
    await Promise.race([drained, promise])
    isOver = true
    cancel()
    await this.#client.close()
    for (const [index, alerts] of (await drained).entries()) {
      const target = this.#options.secrets.targets[index]?.name
      if (alerts > 0) this.#options.logger.log('warn', 'alert.dropped', { target, alerts })
    }
  }

  #advance(): void {
    try {
      const now = this.#clock.now()
      this.#add(this.#rules.due(now))
      const isQuiet = this.#isQuiet()
      // A night's trades are one message, and displace no alert.
      if (!isQuiet) this.#add(this.#tradesDue(now))
      this.#digest()
      this.#heartbeat?.advance(now)
      for (const sender of this.#senders) sender.advance(isQuiet)
    } catch (error) {
      this.#break(error)
    }
  }

  #add(alerts: readonly Alert[]): void {
    for (const alert of alerts) for (const sender of this.#senders) sender.add(alert)
  }

  #tradesDue(now: number): readonly Alert[] {
    return this.#trades?.due(now, (account) => this.#watched?.equityOf(account)) ?? []
  }

  #isQuiet(): boolean {
    const { settings, clock } = this.#options
    return (
      settings.quiet !== undefined && isBetween(this.#localTime(clock.now()).minute, settings.quiet)
    )
  }

  #skipDigest(): void {
    const { settings, clock } = this.#options
    const { day, minute } = this.#localTime(clock.now())
    if (settings.digestAt !== undefined && minute >= toMinute(settings.digestAt))
      this.#digestedOn = day
  }

  #digest(): void {
    const { settings, clock } = this.#options
    const { digestAt } = settings
    const now = clock.now()
    if (digestAt === undefined || this.#watched === undefined) return
    const { day, minute } = this.#localTime(now)
    if (minute < toMinute(digestAt) || this.#digestedOn === day) return
    this.#digestedOn = day
    this.#add([
      {
        event: 'alert.digest',
        key: 'alert.digest',
        urgency: 'info',
        repeats: 0,
        at: now,
        title: 'the day so far',
        lines: this.#watched.digest(),
      },
    ])
  }

  #break(error: unknown): void {
    if (this.#isBroken) return
    this.#isBroken = true
    this.#options.logger.log('error', 'alert.broken', { reason: messageOf(error) })
  }
}

export function wantsTrades({ targets }: Pick<AlertSettings, 'targets'>): boolean {
  return targets.some(({ trades }) => trades !== 'none')
}

/** Hiding comes before cutting: half a secret would not be recognised. */
function hideIn(facts: LogFacts, hidden: HiddenTexts): LogFacts {
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => {
      const text = typeof fact === 'string' ? fact : (JSON.stringify(fact) ?? '')
      const clean = hidden.remove(text)
      return [name, clean === text ? fact : clean]
    }),
  )
}
