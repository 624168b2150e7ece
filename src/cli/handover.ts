import type { Command } from 'commander'
import { assertLossesDecided } from '../config/live-checks.ts'
import {
  type ConfigOptions,
  type ConfigRequest,
  type DaemonConfig,
  loadConfig,
  toConfigRequest,
} from '../config/load-config.ts'
import {
  type ApiCredentials,
  credentialVariables,
  loadCredentials,
  loadJournalPassword,
} from '../config/secrets.ts'
import { ConfigError } from '../config/yaml/problem.ts'
import { accessTo, fingerprintOf } from '../assembly/account/account-keys.ts'
import { serverPlaceOf } from '../assembly/state/state-place.ts'
import { assertKeys, type JournalWriter } from '../journal/journal-writer.ts'
import { systemClock } from '../lib/clock.ts'
import { Failure } from '../lib/failure.ts'
import { systemTimers } from '../lib/timers.ts'
import { durationOption, addConfigOptions } from './process/options.ts'
import type { VerbFrame } from './process/verb-frame.ts'
import { writeOut } from '../lib/write-out.ts'

/** A stop that takes longer is in the log of the daemon that stops. */
const WITHIN_MS = 120_000
const LOOK_MS = 250

const EXIT_NOT_DONE = 1
const EXIT_PENDING = 75

interface HandoverOptions extends ConfigOptions {
  readonly within: number
}

export function addHandoverCommand(program: Command, { setExit }: VerbFrame): void {
  addConfigOptions(program.command('handover'))
    .description(
      'move an account to its standby on purpose; on any machine that reaches the journal',
    )
    .addOption(durationOption('--within <duration>', 'how long to wait for it', WITHIN_MS))
    .action(async (options: HandoverOptions) => setExit(await handOver(options)))
}

async function handOver(options: HandoverOptions): Promise<number> {
  const request = toConfigRequest(options)
  const loaded = loadConfig(request)
  const { config } = loaded
  assertLossesDecided([loaded])
  if (config.journal === undefined) throw nothingToHandOver(config.file)
  const { Handover } = await import('../journal/postgres/handover.ts')
  const place = serverPlaceOf(config, loadJournalPassword(config, request))
  const handover = new Handover(place)
  try {
    const before = await handover.look()
    assertKeys(`${place.url} ${place.schema}`, before.writer, ownKeys(config, request))
    if (before.movedTo !== undefined)
      return say(
        EXIT_NOT_DONE,
        `the journal was moved from the server to ${before.movedTo}: nothing is moved`,
      )
    if (!before.isHeld)
      return say(EXIT_NOT_DONE, 'nobody trades this account: whoever is started next does')
    const refused = config.journal.onDifference === 'refuse'
    const standbys = before.followers.filter(({ differs }) => !refused || differs === '')
    const [barred] = before.followers
    if (barred !== undefined && standbys.length === 0)
      return say(
        EXIT_NOT_DONE,
        `${barred.holder} takes nothing over, since it would trade otherwise than the writer (journal.onDifference): ${barred.differs}
  install the same on both machines, and restart the standby`,
      )
    const [standby] = standbys
    if (standby === undefined)
      return say(
        EXIT_NOT_DONE,
        `no standby follows, so nothing is moved; it is traded by ${before.holder}
  start \`intentd standby\` with this configuration on the machine that is to go on, then hand over again`,
      )
    const begunAt = systemClock.monotonic()
    let { token } = before
    await handover.ask(token)
    say(0, `asked ${before.holder} to hand over; ${standby.holder} stands by`)
    if (standby.differs !== '')
      say(0, `! it would trade otherwise than the writer: ${standby.differs}`)
    for (;;) {
      await new Promise<void>((resolve) => systemTimers.after(LOOK_MS, resolve))
      const now = await handover.look()
      const tookMs = systemClock.monotonic() - begunAt
      if (now.token > token && now.isHeld) {
        if (now.holder !== before.holder) return say(0, takenOver(now.holder, tookMs))
        // A reload gave the daemon a new lease: ask again, because it has not seen the request.
        token = now.token
        await handover.ask(token)
      }
      if (tookMs > options.within)
        return say(EXIT_PENDING, `not done yet: look at the log of ${before.holder}`)
    }
  } finally {
    await handover.close()
  }
}

function ownKeys(config: DaemonConfig, request: ConfigRequest): Pick<JournalWriter, 'keys' | 'by'> {
  const access = accessTo(config, findCredentials(config, request))
  const { apiKey } = credentialVariables(config.account.keys)
  return { keys: access && fingerprintOf(access), by: `${config.name} on this machine (${apiKey})` }
}

function findCredentials(config: DaemonConfig, request: ConfigRequest): ApiCredentials | undefined {
  try {
    return loadCredentials(config, request)
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

function takenOver(holder: string, tookMs: number): string {
  return `${holder} has taken over after ${(tookMs / 1000).toFixed(1)} s
  it trades when it knows what became of all orders, unless a kill or another restriction stands`
}

function say(code: number, text: string): number {
  writeOut(`${text}\n`)
  return code
}

function nothingToHandOver(file: string): Failure {
  return new Failure({
    code: 'HANDOVER_IMPOSSIBLE',
    sentence: 'the journal of this configuration is a file, so no other machine can continue it',
    facts: { file },
    hint: 'set journal.url',
  })
}
