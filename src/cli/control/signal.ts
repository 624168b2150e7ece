import type { Command } from 'commander'
import type { ConfigOptions } from '../../config/load-config.ts'
import { loadSignalSecrets } from '../../config/signal-secrets.ts'
import { request } from '../../lib/net/node-http.ts'
import type { Secret } from '../../lib/secret.ts'
import { cleanLine } from '../../lib/text/clean-text.ts'
import { EXIT_SILENT } from '../operator/find-daemon.ts'
import { addOperatedOptions, loadOperated } from '../operator/operated-config.ts'
import { print, printResult } from '../process/operator.ts'
import type { VerbFrame } from '../process/verb-frame.ts'

const EXIT_NOT_TAKEN = 1
const PATIENCE_MS = 10_000

export function addSignalCommand(program: Command, { setExit }: VerbFrame): void {
  addOperatedOptions(program.command('signal'))
    .description('send a signal to a running daemon on this machine, as its sender would')
    .argument('<name>', 'as signals.accept of the configuration has it')
    .argument('<fields>', 'a JSON object such as {"action":"long"}')
    .action(async (name: string, fields: string, options: ConfigOptions) =>
      setExit(await sendSignal(name, fields, options)),
    )
}

async function sendSignal(name: string, fields: string, options: ConfigOptions): Promise<number> {
  const config = loadOperated(options)
  const { signals } = config
  const named = Object.keys(signals?.accept ?? {})
  if (signals === undefined || !named.includes(name)) {
    print(
      `the configuration takes no signal ${name}; it takes ${named.length === 0 ? 'none' : named.join(', ')}`,
    )
    return EXIT_NOT_TAKEN
  }
  const secret = loadSignalSecrets(config, { cwd: process.cwd() }).get(name)
  const { host, port } = signals
  try {
    const { status, text } = await post({ host, port, name, fields, secret })
    printResult(cleanLine(text.trim()))
    return status === 200 ? 0 : EXIT_NOT_TAKEN
  } catch {
    print(`nothing takes signals at ${host}:${port}; does the daemon run with this configuration?`)
    return EXIT_SILENT
  }
}

interface SignalPost {
  readonly host: string
  readonly port: number
  readonly name: string
  readonly fields: string
  readonly secret: Secret | undefined
}

function post({ host, port, name, fields, secret }: SignalPost) {
  return new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    const headers = { 'X-Signal-Secret': secret?.reveal() ?? '' }
    const path = `/signals/${name}`
    const sent = request({ host, port, path, method: 'POST', headers, timeout: PATIENCE_MS })
    sent.on('timeout', () => sent.destroy(new Error('no answer')))
    sent.on('error', reject)
    sent.on('response', (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      )
    })
    sent.end(fields)
  })
}
