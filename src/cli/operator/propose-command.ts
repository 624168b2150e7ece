import { cleanLine } from '../../lib/text/clean-text.ts'
import { showUtc } from '../../lib/text/show-utc.ts'
import type { DaemonConfig } from '../../config/load-config.ts'
import type { ControlAnswer, ControlRequest, ProposalView } from '../../control/commands.ts'
import type { RiskierCommand } from '../../control/powers.ts'
import { newRequestId } from './request-id.ts'
import { callerName, print, printResult } from '../process/operator.ts'
import { EXIT_SILENT, explainReply, findSocket, withClient } from './find-daemon.ts'

const EXIT_NOT_DONE = 1
const EXIT_WAITING = 75

/** Chats and assistants may only propose what adds risk. @returns the exit code */
export async function proposeCommand(
  config: DaemonConfig,
  { order, reason }: { readonly order: RiskierCommand; readonly reason: string },
): Promise<number> {
  const socket = findSocket(config)
  if (socket === undefined) {
    print('no daemon runs with this configuration, so nothing can be proposed')
    return EXIT_SILENT
  }
  const request: ControlRequest = { requestId: newRequestId(), reason, by: callerName(), order }
  const reply = await withClient(socket, (client) => client.propose(request))
  if (reply.kind !== 'answered' || (reply.status !== 200 && reply.status !== 202))
    return explainReply(config, reply)
  const { text, proposal } = reply.body as ControlAnswer
  if (proposal !== undefined) for (const line of describeProposal(proposal)) printResult(line)
  printResult(text)
  return proposal === undefined ? EXIT_NOT_DONE : EXIT_WAITING
}

/** These are shown without their names; a price without one could be any level. */
const PLAIN: ReadonlySet<string> = new Set([
  'scope',
  'symbol',
  'strategyId',
  'side',
  'size',
  'amount',
  'coin',
  'id',
])

export function describeProposal({
  id,
  order,
  by,
  reason,
  expiresAt,
  changes,
  notes,
}: ProposalView): readonly string[] {
  const { kind, ...details } = order
  const words = Object.entries(details).map(([name, value]) =>
    PLAIN.has(name) ? String(value) : `${name} ${value}`,
  )
  return [
    `proposal ${id}: ${[kind, ...words].join(' ')}`,
    `  by ${by}: ${JSON.stringify(reason)}`,
    ...changes.map((line) => `  would change  ${line}`),
    ...notes.map((line) => `  note          ${line}`),
    `  until ${showUtc(expiresAt)}`,
  ].map(cleanLine)
}
