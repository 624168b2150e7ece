import { resolve } from 'node:path'
import type { Command } from 'commander'
import { listHeldDirectories } from '../../assembly/state/state-directory.ts'
import { agentSocketOf, agentTokenFileOf } from '../../assembly/state/state-place.ts'
import { type ConfigOptions, type DaemonConfig, toConfigRequest } from '../../config/load-config.ts'
import { agentPowers } from '../../control/powers.ts'
import { findSocket, withClient } from '../operator/find-daemon.ts'
import { loadOperated } from '../operator/operated-config.ts'
import { EXITS } from '../process/exit-codes.ts'
import { print } from '../process/operator.ts'
import { addConfigOptions } from '../process/options.ts'
import type { VerbFrame } from '../process/verb-frame.ts'
import type { AgentServerOptions } from './agent-server.ts'

interface McpOptions extends ConfigOptions {
  readonly http?: boolean
}

export function addMcpCommand(program: Command, { version, setExit }: VerbFrame): void {
  addConfigOptions(program.command('mcp'))
    .description(
      'serve an assistant by the Model Context Protocol: it looks, and does what control.agents allows; what can add risk it only proposes',
    )
    .option('--http', 'at /mcp of the control port, and not on standard input and output')
    .action(async (options: McpOptions) => setExit(await serve(options, version)))
}

async function serve(options: McpOptions, version: string): Promise<number> {
  const config = loadOperated(options)
  const { agents } = config.control
  const { file, cwd } = toConfigRequest(options)
  const { strategies } = agents
  const named = { file: resolve(cwd, file), set: options.set, strategies }
  const served = {
    version,
    config: named,
    powers: agentPowers(config.control, options.http ? 'port' : 'machine'),
    askDaemon: (path: string, withinMs: number) => askDaemon(config, path, withinMs),
  }
  if (options.http) return serveHttp(config, { ...served, by: 'agent mcp at the port' })
  // Loaded here, so that no other command pays for it.
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
  const { createAgentServers } = await import('./agent-server.ts')
  serveStdio(createAgentServers({ ...served, by: 'agent mcp' }))
  await new Promise<void>((done) => {
    process.stdin.once('close', done)
  })
  return 0
}

/**
 * @returns undefined for several accounts or daemons, or if none answers: the command then says
 * more
 */
async function askDaemon(config: DaemonConfig, path: string, withinMs: number): Promise<unknown> {
  const held = listHeldDirectories(config.state.directory)
  const socket = findSocket(config)
  if (config.accounts !== undefined || held.length !== 1 || socket === undefined) return undefined
  const reply = await withClient(socket, (client) => client.read(path, withinMs))
  return reply.kind === 'answered' && reply.status === 200 ? reply.body : undefined
}

/** The daemon passes /mcp of its port on to this process, so no assistant uses its memory. */
async function serveHttp(config: DaemonConfig, served: AgentServerOptions): Promise<number> {
  if (!config.control.agents.http) {
    print('assistants are not served at the port: set control.agents.http: true (docs/agents.md)')
    return EXITS.configuration
  }
  const { AgentListener } = await import('./agent-server.ts')
  const { createAgentServers } = await import('./agent-server.ts')
  const listener = new AgentListener(agentSocketOf(config), createAgentServers(served))
  const objection = await listener.start()
  if (objection !== undefined) {
    print(objection)
    return EXITS.temporary
  }
  const { host, port } = config.control
  print(
    `serves assistants at /mcp of the control port (${host}:${port}), by the token in ${agentTokenFileOf(config)}`,
  )
  await new Promise<void>((done) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => done())
  })
  await listener.stop()
  return 0
}
