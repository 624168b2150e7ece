import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { renderUnicodeCompact } from 'uqr'
import { readMainFile } from '../../assembly/state/running-config.ts'
import {
  type ConfigOptions,
  type DaemonConfig,
  loadConfig,
  toConfigRequest,
} from '../../config/load-config.ts'
import { counterOf, createSecret, pairingUri } from '../../control/approval/one-time-codes.ts'
import { createPairingFile } from '../../control/approval/pairing-file.ts'
import { pairingFileOf } from '../../assembly/state/state-place.ts'
import { systemClock } from '../../lib/clock.ts'
import { makeDirectory } from '../../lib/durable-file.ts'
import { showUtc } from '../../lib/text/show-utc.ts'
import { writeOut } from '../../lib/write-out.ts'
import { askLine } from '../process/ask-line.ts'
import { EXITS } from '../process/exit-codes.ts'
import { print, printResult } from '../process/operator.ts'
import { addConfigOptions } from '../process/options.ts'
import { ownerOf } from '../process/trusted-files.ts'
import type { VerbFrame } from '../process/verb-frame.ts'

const EXIT_NOT_DONE = 1
const ATTEMPTS_MAX = 3

interface PairOptions extends ConfigOptions {
  readonly again?: boolean
}

export function addPairCommand(program: Command, { setExit }: VerbFrame): void {
  addConfigOptions(program.command('pair'))
    .description(
      'pair an authenticator, whose one-time codes confirm what chat, assistants and the port propose',
    )
    .option('--again', 'replace the authenticator that is paired, whose codes then count no more')
    .action(async (options: PairOptions) => setExit(await pair(options)))
}

async function pair({ again = false, ...options }: PairOptions): Promise<number> {
  const { config } = loadConfig(toConfigRequest(options))
  const file = pairingFileOf(config)
  const objection = objectTo(config, file, again)
  if (objection !== undefined) {
    print(objection)
    return EXITS.usage
  }
  const secret = createSecret()
  const uri = pairingUri(secret, config.name)
  writeOut(`${renderUnicodeCompact(uri)}\n\n${uri}\n`)
  print('scan this with an authenticator, or give it the address; then type the code that it shows')
  const usedCounter = await proveCode((code) => counterOf(secret, code, systemClock.now()))
  if (usedCounter === undefined) {
    print(
      `not paired: that is no code of this secret; if the authenticator shows it, compare its time with this machine's: ${showUtc(systemClock.now())}`,
    )
    return EXIT_NOT_DONE
  }
  makeDirectory(config.state.directory, 0o700)
  const pairedAt = systemClock.now()
  const store = createPairingFile(file)
  const clean = { wrongAt: [], locks: 0, lockedUntil: 0 }
  store.alone(() => store.save({ secret, pairedAt, usedCounter, ...clean }))
  printResult(`paired: ${file} holds the secret, for you alone. This code counts no more`)
  return 0
}

function objectTo(config: DaemonConfig, file: string, again: boolean): string | undefined {
  const mainFile = readMainFile(config)
  if (mainFile !== undefined && mainFile !== resolve(config.file))
    return `not paired: this account is one of a daemon with ${mainFile}, which has one authenticator for all: give that with -c`
  const [user, owner] = [process.geteuid?.(), ownerOf(config)]
  if (user !== undefined && user !== owner)
    return `not paired: the daemon could not read it: run this as the user of the daemon (uid ${owner})`
  if (existsSync(file) && !again)
    return 'an authenticator is paired already: --again replaces it, and its codes count no more'
  return undefined
}

async function proveCode(check: (code: string) => number | undefined): Promise<number | undefined> {
  const attempts = process.stdin.isTTY ? ATTEMPTS_MAX : 1
  for (let left = attempts - 1; left >= 0; left--) {
    const line = await askLine('code: ')
    const counter = line === undefined ? undefined : check(line)
    if (counter !== undefined || line === undefined) return counter
    if (left > 0) print(`that is no code of this secret; ${left} more`)
  }
  return undefined
}
