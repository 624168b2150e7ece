import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type ConfigOptions, toConfigRequest } from '../../config/config-request.ts'
import { loadOperated } from '../operator/operated-config.ts'
import type { Power } from '../../control/powers.ts'
import { addConfigOptions } from '../process/options.ts'
import type { VerbFrame } from '../process/verb-frame.ts'

export function addMcpCommand(program: Command, { version, setExit }: VerbFrame): void {
  addConfigOptions(program.command('mcp'))
    .description(
      'serve an assistant by the Model Context Protocol on standard input and output: it looks, and does what control.agents allows; what can add risk it only proposes',
    )
    .action(async (options: ConfigOptions) => setExit(await serve(options, version)))
}

async function serve(options: ConfigOptions, version: string): Promise<number> {
  const { agents } = loadOperated(options).control
  const { file, cwd } = toConfigRequest(options)
  const powers = new Set<Power>(['look'])
  if (agents.research) powers.add('research')
  if (agents.safer) powers.add('safer')
  if (agents.propose) powers.add('riskier')
  // Loaded here, so that no other command pays for it.
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
  const { buildAgentServer } = await import('./agent-server.ts')
  const config = { file: resolve(cwd, file), set: options.set }
  serveStdio(() => buildAgentServer({ version, config, powers }))
  await new Promise<void>((done) => {
    process.stdin.once('close', done)
  })
  return 0
}
