import type { DaemonConfig } from '../../config/load-config.ts'
import type { SecretsRequest } from '../../config/secrets.ts'
import { formatProblem } from '../../config/yaml/problem.ts'
import { type CheckFinding, finding, ok } from '../process/finding.ts'
import { listSignalProblems } from '../process/full-check.ts'
import { examineListening } from './examine-machine.ts'

export async function examineSignals(
  config: Pick<DaemonConfig, 'signals' | 'state'>,
  request: SecretsRequest,
): Promise<readonly CheckFinding[]> {
  const { signals, state } = config
  if (signals === undefined) return []
  const problems = listSignalProblems(config, request)
  const names = Object.keys(signals.accept)
  const secrets =
    problems.length > 0
      ? problems.map((problem) => finding('fail', 'signals', formatProblem(problem), MAKE_SECRET))
      : [ok('signals', `each has its secret: ${names.join(', ') || 'none is accepted'}`)]
  return [...secrets, ...(await examineListening('signals', signals, state))]
}

const MAKE_SECRET =
  'a start refuses it: `openssl rand -hex 24` makes a secret; write it to .env under that name, and give the sender the same'
