import { hostname } from 'node:os'
import { resolve } from 'node:path'
import process from 'node:process'
import { UniverseRecorder } from '../../assembly/recordings/record-universe.ts'
import { type ConfigOptions, toConfigRequest } from '../../config/config-request.ts'
import { loadConfig } from '../../config/load-config.ts'
import { readContracts } from '../../exchange/readers/contracts-reader.ts'
import { PRIORITY } from '../../exchange/limiter/grant.ts'
import { systemClock } from '../../lib/clock.ts'
import { onStopSignals } from '../../lib/stop-signals.ts'
import { showDuration } from '../../lib/text/show-duration.ts'
import { systemTimers } from '../../lib/timers.ts'
import { writeAside, writeOut } from '../../lib/write-out.ts'
import { UniverseWriter } from '../../recording/universe/universe-writer.ts'
import { openPublicClient, publicSourceOf, SIMULATED } from './public-client.ts'

export interface RecordUniverseOptions extends Pick<ConfigOptions, 'config' | 'set'> {
  readonly out: string
  readonly every: number
  readonly json?: boolean
}

/** Keeps the tickers of all instruments until a signal comes. */
export async function recordUniverse(options: RecordUniverseOptions): Promise<number> {
  const { config } = loadConfig(toConfigRequest(options))
  const { productType } = config.account
  const directory = resolve(options.out)
  const source = publicSourceOf(config) ?? SIMULATED
  const writer = new UniverseWriter({
    directory,
    source,
    productType,
    holder: {
      pid: process.pid,
      since: systemClock.now(),
      host: hostname(),
      name: config.name,
      command: 'record --universe',
    },
    onTorn: (file, tornBytes) =>
      say(`${file} ended within an answer: ${tornBytes} bytes are left out`),
  })
  try {
    const exchange = await openPublicClient({ config, directory, endpoint: 'contracts' })
    try {
      const { client } = exchange
      const priority = PRIORITY.background
      const recorder = new UniverseRecorder({
        readTickers: (table) => client.readTickers(table, productType, { priority }),
        readContracts: () => readContracts(client, productType),
        writer,
        clock: systemClock,
        timers: systemTimers,
        everyMs: options.every,
        say,
      })
      await runUntilSignal(recorder, { ...options, what: `${productType} of ${source}` })
    } finally {
      await exchange.close()
    }
  } finally {
    await writer.close()
  }
  return 0
}

async function runUntilSignal(
  recorder: UniverseRecorder,
  {
    out,
    every,
    json,
    what,
  }: Pick<RecordUniverseOptions, 'out' | 'every' | 'json'> & { readonly what: string },
): Promise<void> {
  const unlisten = onStopSignals(() => recorder.stop())
  try {
    writeAside(`keeps all tickers of ${what} in ${out}, every ${showDuration(every)}\n`)
    await recorder.run()
  } finally {
    unlisten()
  }
  const { answers, bytes, missed } = recorder.stats
  if (json === true) writeOut(`${JSON.stringify({ directory: out, answers, bytes, missed })}\n`)
  else writeOut(`${out}  ${answers} answers, ${bytes} bytes, ${missed} missed\n`)
}

function say(sentence: string): void {
  writeAside(`${new Date(systemClock.now()).toISOString()}  ${sentence}\n`)
}
